import { useState } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { newId } from '../../api/new-id.ts';
import type { Job, JobItem } from '../../api/operations.generated.ts';
import { type ApiProblem, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Skeleton } from '../../design/skeleton.tsx';
import { inDigits } from '../../text/language.ts';
import { t } from '../../text/jobs.ts';
import { ProblemNote } from '../problem-note.tsx';
import { errorText } from '../problem-text.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';
import { linesOf } from './lines-of.ts';

interface Reason {
  readonly code: string;
  readonly message: string;
  readonly count: number;
}

/** Why items of a job failed, the most frequent reason first. Each can be retried by itself. */
export function Reasons({ job, onRetried }: { readonly job: Job; readonly onRetried: (next: Job) => void }) {
  const client = useClient();
  const [busy, setBusy] = useState<string>();
  const [failure, setFailure] = useState<ApiProblem>();
  const { value, problem, reload } = useLoaded((signal) => reasonsOf(client, job.id, signal), [job.id]);
  const retry = async (code: string | undefined): Promise<void> => {
    setBusy(code ?? '');
    setFailure(undefined);
    try {
      const body = code === undefined ? {} : { codes: [code] };
      onRetried(await client.post('/jobs/{id}/retry', { path: { id: job.id }, body, idempotencyKey: newId() }));
    } catch (error) {
      setFailure(problemOf(error));
    }
    setBusy(undefined);
  };
  return (
    <section class="jobs-section" aria-labelledby="jobs-why">
      <header class="jobs-section-head">
        <h2 id="jobs-why">{t('why')}</h2>
        {value && value.length > 1 && (
          <Button icon="refresh" isBusy={busy === ''} onClick={() => void retry(undefined)}>
            {t('retryAll')}
          </Button>
        )}
      </header>
      <p class="jobs-quiet">{t('whyText')}</p>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {failure && <ProblemNote problem={failure} />}
      {!value && !problem && <Skeleton label={t('loading')} rows={2} />}
      {value && (
        <ul role="list" class="jobs-reasons">
          {value.map((reason) => (
            <li key={reason.code} class="jobs-reason">
              <span class="jobs-reason-count">{inDigits(reason.count)}</span>
              <span class="jobs-reason-text">
                {errorText(reason)} <code class="jobs-quiet">{reason.code}</code>
              </span>
              <Button
                icon="refresh"
                aria-label={t('retryFor', { reason: errorText(reason) })}
                isBusy={busy === reason.code}
                onClick={() => void retry(reason.code)}
              >
                {t('retry')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Counts the failed items by their codes. All of them come in one reply. */
async function reasonsOf(client: Client, id: string, signal: AbortSignal): Promise<readonly Reason[]> {
  const query = { state: 'failed' };
  const headers = { accept: 'application/x-ndjson' };
  const reasons = new Map<string, Reason>();
  const reply = await client.send('GET', '/jobs/{id}/items', { path: { id }, query, headers, signal });
  for await (const line of linesOf(reply)) {
    const { error } = JSON.parse(line) as JobItem;
    if (!error) continue;
    const { message, count } = reasons.get(error.code) ?? { message: error.message, count: 0 };
    reasons.set(error.code, { code: error.code, message, count: count + 1 });
  }
  return [...reasons.values()].toSorted((a, b) => b.count - a.count);
}
