import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../api/operations.generated.ts';
import { EmptyState } from '../../design/empty-state.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { Icon } from '../../design/icon.tsx';
import { DateTime } from '../../design/measures.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { Switch } from '../../design/switch.tsx';
import { t } from '../../text/jobs.ts';
import { ProblemNote } from '../problem-note.tsx';
import { useClient, useMe } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { useTitle } from '../use-title.ts';
import { iconOf, isActive, outcomeInWords, progressInWords, titleOf } from './job-in-words.ts';
import { JobProgress, JobState } from './job-progress.tsx';
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
  const query = { limit: PAGE, state: state === '' ? undefined : state, all: isAll || undefined };
  const list = usePages((cursor, signal) => client.get('/jobs', { query: { ...query, cursor }, signal }), [state, isAll]);
  const isAnyActive = list.items?.some(isActive) ?? false;

  useEffect(() => {
    const abort = new AbortController();
    const look = async (): Promise<void> => {
      if (document.visibilityState === 'hidden') return;
      const { data } = await client.get('/jobs', { query, signal: abort.signal });
      if (!abort.signal.aborted) list.change((before) => withNewer(before, data));
    };
    // The next look mends a failed one; the note above the list is about what somebody asked for.
    const timer = setInterval(() => void look().catch(() => undefined), isAnyActive ? LOOK_MS.active : LOOK_MS.idle);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [state, isAll, isAnyActive]);

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
              <JobRow key={job.id} job={job} />
            ))}
          </ul>
        </EndlessList>
      )}
    </div>
  );
}

function JobRow({ job }: { readonly job: Job }) {
  const words = progressInWords(job) || outcomeInWords(job);
  return (
    <li class="jobs-row">
      <span class="jobs-icon">
        <Icon name={iconOf(job)} />
      </span>
      <div class="jobs-what">
        <a class="jobs-title" href={`/jobs/${job.id}`}>
          {titleOf(job)}
        </a>
        <p class="jobs-quiet">
          <DateTime value={job.created_at} />
          {words !== '' && ` · ${words}`}
        </p>
        <JobProgress job={job} />
      </div>
      <JobState job={job} />
    </li>
  );
}

/** The list with the jobs of its first page as they are now; what is new stands first. */
function withNewer(before: readonly Job[], first: readonly Job[]): readonly Job[] {
  const now = new Map(first.map((job) => [job.id, job]));
  const known = new Set(before.map(({ id }) => id));
  return [...first.filter(({ id }) => !known.has(id)), ...before.map((job) => now.get(job.id) ?? job)];
}
