import type { Client } from '../../api/client.ts';
import type { Job } from '../../api/operations.generated.ts';
import { pause } from '../../api/patience.ts';
import { ApiProblem, isPassing } from '../../api/problem.ts';
import { linesOf } from './lines-of.ts';

/** A stream ends after some minutes, and a server may restart. */
const RECONNECT_MS = 1_000;
const PASSING_SECONDS = 5;

/**
 * Reports a job as it is and whenever it changes, until it has ended; returns it then. Reconnects by itself. Throws ApiProblem
 * if the job cannot be read, and what aborted the signal.
 */
export async function followJob(client: Client, id: string, report: (job: Job) => void, signal: AbortSignal): Promise<Job> {
  for (;;) {
    let wait = RECONNECT_MS;
    try {
      const reply = await client.send('GET', '/jobs/{id}', { path: { id }, headers: { accept: 'text/event-stream' }, signal });
      for await (const job of jobsIn(reply)) {
        report(job);
        if (job.ended_at !== null) return job;
      }
    } catch (error) {
      signal.throwIfAborted();
      // A stream that breaks is a TypeError of the browser.
      if (error instanceof ApiProblem && !isPassing(error)) throw error;
      if (error instanceof ApiProblem) wait = (error.retryAfter ?? PASSING_SECONDS) * 1_000;
    }
    await pause(wait, signal);
  }
}

/** The jobs of an event stream; comments that keep the connection alive are left out. */
async function* jobsIn(reply: Response): AsyncGenerator<Job> {
  for await (const line of linesOf(reply)) if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as Job;
}
