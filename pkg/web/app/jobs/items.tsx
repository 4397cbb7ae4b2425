import { useEffect, useRef, useState } from 'preact/hooks';
import type { Job, JobItem } from '../../api/operations.generated.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { EndlessList } from '../../design/endless-list.tsx';
import { Select } from '../../design/select.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { t } from '../../text/jobs.ts';
import { failureToast } from '../failure-toast.ts';
import { ProblemNote } from '../problem-note.tsx';
import { errorText } from '../problem-text.ts';
import { saveTable } from '../save-blob.ts';
import { useClient } from '../services.ts';
import { usePages } from '../use-pages.ts';
import { whileVisible } from '../while-visible.ts';
import { isActive } from './job-in-words.ts';
import { itemAddress } from './ways.ts';

const STATES = ['queued', 'succeeded', 'failed', 'skipped'] as const;
type State = (typeof STATES)[number];

const PAGE = 100;
/** So often the items of a job that runs are asked for again, unless somebody has gone on in the list. */
const LOOK_MS = 3_000;

const TONES: Readonly<Record<State, Tone>> = {
  queued: 'neutral',
  succeeded: 'success',
  failed: 'danger',
  skipped: 'neutral',
};

/** What became of each item of a job. */
export function Items({ job }: { readonly job: Job }) {
  const client = useClient();
  const [state, setState] = useState<State | ''>('');
  const path = { id: job.id };
  const wanted = state === '' ? undefined : state;
  const list = usePages(
    (cursor, signal, known) =>
      client.getPage('/jobs/{id}/items', { path, query: { limit: PAGE, state: wanted, cursor }, signal }, known),
    [job.id, state],
  );
  const isLive = isActive(job) && (list.items?.length ?? 0) <= PAGE;
  const isLoading = useRef(true);
  isLoading.current = list.isLoading;
  useEffect(() => {
    if (!isLive) return undefined;
    // A reload ends what is under way, so that on a slow network nothing would ever arrive.
    const endLooks = whileVisible(() => {
      if (!isLoading.current) list.reload();
    }, LOOK_MS);
    return () => {
      endLooks();
      list.reload();
    };
  }, [isLive]);
  const save = async (): Promise<void> => {
    try {
      const query = wanted === undefined ? {} : { state: wanted };
      const reply = await client.send('GET', '/jobs/{id}/items', { path, query, headers: { accept: 'text/csv' } });
      saveTable(await reply.blob(), `job-${job.id}.csv`);
    } catch (error) {
      failureToast(error);
    }
  };
  return (
    <section class="jobs-section" aria-labelledby="jobs-items">
      <header class="jobs-section-head">
        <h2 id="jobs-items">{t('items')}</h2>
        <div class="jobs-filters">
          <Select
            label={t('itemFilter')}
            isLabelHidden
            value={state}
            onValue={setState}
            options={[{ value: '', label: t('item.all') }, ...STATES.map((value) => ({ value, label: t(`item.${value}`) }))]}
          />
          <Button icon="download" onClick={() => void save()}>
            {t('table')}
          </Button>
        </div>
      </header>
      {list.problem && <ProblemNote problem={list.problem} onRetry={list.more} />}
      {!list.items && !list.problem && <Skeleton kind="rows" label={t('loading')} />}
      {list.items?.length === 0 && <p role="status">{t('itemsNone')}</p>}
      {list.items && list.items.length > 0 && (
        <EndlessList
          isMore={list.isMore}
          isLoading={list.isLoading}
          hasFailed={list.problem !== undefined}
          moreLabel={t('more')}
          onMore={list.more}
        >
          <ul role="list" class="jobs-items">
            {list.items.map((item) => (
              <li key={item.id} class="jobs-item">
                <ItemName job={job} item={item} />
                <ItemOutcome item={item} />
                <Badge tone={TONES[item.state]}>{t(`item.${item.state}`)}</Badge>
              </li>
            ))}
          </ul>
        </EndlessList>
      )}
    </section>
  );
}

function ItemName({ job, item }: { readonly job: Job; readonly item: JobItem }) {
  const href = itemAddress(job, item);
  // A batch reads the names of its items when it begins.
  const name = item.target.name ?? t(item.state === 'queued' ? `unread.${item.target.type}` : 'hidden');
  return (
    <span class="jobs-item-name">
      {href === undefined ? (
        name
      ) : (
        <a class="c-name" href={href}>
          {name}
        </a>
      )}
    </span>
  );
}

function ItemOutcome({ item: { error, reason, result } }: { readonly item: JobItem }) {
  if (error) return <span class="jobs-item-text">{errorText(error)}</span>;
  if (reason !== null) return <span class="jobs-item-text">{t(`skip.${reason}`)}</span>;
  if (result && 'url' in result)
    return (
      <a class="jobs-item-text" href={result.url}>
        {result.url}
      </a>
    );
  if (result && 'path' in result && result.adapted)
    return <span class="jobs-item-text">{t('became', { path: result.path })}</span>;
  return <span class="jobs-item-text" />;
}
