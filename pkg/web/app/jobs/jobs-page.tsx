import { useState } from 'preact/hooks';
import { EmptyState } from '../../design/empty-state.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { Switch } from '../../design/switch.tsx';
import { t } from '../../text/jobs.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { useNewest } from '../use-newest.ts';
import { usePages } from '../use-pages.ts';
import { useTitle } from '../use-title.ts';
import { isActive } from './job-in-words.ts';
import { JobRow } from './job-row.tsx';
import './jobs.css';

const STATES = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
type State = (typeof STATES)[number];

/** So often the first page is asked for again: while a job runs, and while none does. */
const LOOK_MS = { active: 2_000, idle: 15_000 } as const;
const PAGE = 50;

/** One's jobs of the last 30 days; for administrators those of everybody, too. */
export function JobsPage() {
  const client = useClient();
  const me = useMe();
  const [state, setState] = useState<State | ''>('');
  const [isAll, setAll] = useState(false);
  useTitle(t('title'));
  const load = (cursor: string | undefined, signal: AbortSignal, known: string | undefined) => {
    const query = { limit: PAGE, cursor, state: state || undefined, all: isAll || undefined };
    return client.getPage('/jobs', { query, signal }, known);
  };
  const of = [state, isAll];
  const list = usePages(load, of);
  const isAnyActive = list.items?.some(isActive) ?? false;
  useNewest(list, (signal, known) => load(undefined, signal, known), isAnyActive ? LOOK_MS.active : LOOK_MS.idle, of);

  return (
    <div class="jobs">
      <header class="jobs-head">
        <h1>{t('title')}</h1>
        <div class="jobs-filters">
          {me.user.roles.includes('admin') && <Switch label={t('everybody')} isOn={isAll} onChange={setAll} />}
          <Select
            label={t('filter')}
            isLabelHidden
            value={state}
            onValue={setState}
            options={[{ value: '', label: t('all') }, ...STATES.map((value) => ({ value, label: t(`state.${value}`) }))]}
          />
        </div>
      </header>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 &&
        (state === '' ? (
          <EmptyState drawing="done" title={t('none')}>
            {t('noneText')}
          </EmptyState>
        ) : (
          <p role="status">{t('noneMatch')}</p>
        ))}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="jobs-list">
            {list.items.map((job) => (
              <JobRow key={job.id} job={job} isOfEverybody={isAll} />
            ))}
          </ul>
        </EndlessList>
      )}
    </div>
  );
}
