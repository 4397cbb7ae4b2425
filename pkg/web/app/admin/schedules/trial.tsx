import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from '../../../api/client.ts';
import { newId } from '../../../api/new-id.ts';
import type { Batch, BatchJob, JobItem, ScheduledBatch } from '../../../api/operations.generated.ts';
import { type ApiProblem, isAbort, problemOf } from '../../../api/problem.ts';
import { Progress } from '../../../design/progress.tsx';
import { count, t } from '../../../text/schedules.ts';
import { followJob } from '../../jobs/follow-job.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { errorText } from '../../problem-text.ts';
import { useClient } from '../../services.ts';

/** So many of the files are shown by name. */
const SHOWN = 10;

interface Outcome {
  readonly job: BatchJob;
  readonly items: readonly JobItem[];
}

interface Props {
  readonly batch: ScheduledBatch;
  readonly onEnd: (hasSucceeded: boolean) => void;
}

/** Runs a batch as a dry run, which changes nothing, and shows which files it would change and which it could not. */
export function Trial({ batch, onEnd }: Props) {
  const client = useClient();
  const [outcome, setOutcome] = useState<Outcome>();
  const [problem, setProblem] = useState<ApiProblem>();
  const section = useRef<HTMLElement>(null);
  // The dialog may be longer than the screen.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [outcome, problem]);
  useEffect(() => {
    const abort = new AbortController();
    const end = (result: Outcome): void => {
      setOutcome(result);
      onEnd(result.job.state === 'succeeded');
    };
    tryBatch(client, batch, abort.signal).then(end, (error: unknown) => {
      if (abort.signal.aborted || isAbort(error)) return;
      setProblem(problemOf(error));
      onEnd(false);
    });
    return () => abort.abort();
  }, []);
  return (
    <section ref={section} class="schedules-trial" aria-label={t('trialTitle')}>
      <h3>{t('trialTitle')}</h3>
      {problem && <ProblemNote problem={problem} />}
      {!outcome && !problem && <Progress label={t('trialRuns')} />}
      <div role="status">{outcome && <Found {...outcome} />}</div>
    </section>
  );
}

function Found({ job, items }: Outcome) {
  const { total, failed } = job.progress;
  if (job.error) return <p>{errorText(job.error)}</p>;
  if (total === 0) return <p>{t('trialNone')}</p>;
  const more = total - items.length;
  return (
    <>
      <p>
        {count('trialFound', total)} {failed > 0 && count('trialFailed', failed)}
      </p>
      <ul role="list" class="schedules-trial-items">
        {items.map(({ id, target, error }) => (
          <li key={id}>
            {target.name ?? '–'} {error && <span class="c-field-error">{errorText(error)}</span>}
          </li>
        ))}
        {more > 0 && <li class="admin-quiet">{count('trialMore', more)}</li>}
      </ul>
      <p class="admin-quiet">{t('trialText')}</p>
    </>
  );
}

async function tryBatch(client: Client, batch: ScheduledBatch, signal: AbortSignal): Promise<Outcome> {
  const body = { ...batch, dry_run: true } as Batch;
  const begun = await client.post('/batch', { body, signal, idempotencyKey: newId() });
  const job = await followJob(client, begun.id, () => undefined, signal);
  const { data } = await client.get('/jobs/{id}/items', { path: { id: job.id }, query: { limit: SHOWN }, signal });
  return { job: job as BatchJob, items: data };
}
