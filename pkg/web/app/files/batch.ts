import type { Client } from '../../api/client.ts';
import { newId } from '../../api/new-id.ts';
import { Observed } from '../../api/observed.ts';
import type { Batch as BatchBody, BatchJob } from '../../api/operations.generated.ts';
import { isPassing } from '../../api/problem.ts';
import { inBackground } from '../../api/slow-requests.ts';
import type { Entry } from './entry.ts';

/** The most that one batch takes. */
const ITEMS_MAX = 10_000;
const FIRST_ASK_MS = 150;
const ASK_MS_MAX = 1_500;

export interface BatchProgress {
  readonly done: number;
  readonly total: number;
}

export interface BatchOutcome {
  readonly done: number;
  readonly failed: number;
  readonly isCanceled: boolean;
}

type Item = Pick<Entry, 'type' | 'id'>;

/** Something that runs on the server for files: how far it is, and how it is ended. */
export interface Work {
  readonly progress: Observed<BatchProgress>;
  cancel(): void;
}

/** What a batch does with the items. */
export type Operation =
  | { readonly operation: 'delete' | 'purge' | 'restore' }
  | {
      readonly operation: 'move' | 'copy';
      readonly arguments: { readonly folder_id: string | null; readonly on_conflict?: 'fail' | 'rename' };
    }
  | { readonly operation: 'tag' | 'untag'; readonly arguments: { readonly tag_id: string } };

/** Something with many items that runs on the server, as it is shown while it does. */
export class Batch implements Work {
  readonly progress: Observed<BatchProgress>;
  readonly #client: Client;
  readonly #items: readonly Item[];
  readonly #operation: Operation;
  readonly #jobs: string[] = [];
  #isCanceled = false;

  constructor(client: Client, operation: Operation, items: readonly Item[]) {
    this.#client = client;
    this.#operation = operation;
    this.#items = items;
    this.progress = new Observed<BatchProgress>({ done: 0, total: items.length });
  }

  get kind(): Operation['operation'] {
    return this.#operation.operation;
  }

  /** The jobs that have begun, in their order. */
  get jobs(): readonly string[] {
    return this.#jobs;
  }

  /** What is done stays done. */
  cancel(): void {
    this.#isCanceled = true;
  }

  /** Runs to the end, with one job for each 10,000 items. Throws ApiProblem if a job could not begin. */
  async run(signal: AbortSignal): Promise<BatchOutcome> {
    let before = { done: 0, failed: 0 };
    for (let from = 0; from < this.#items.length && !this.#isCanceled; from += ITEMS_MAX) {
      const items = this.#items.slice(from, from + ITEMS_MAX).map(({ type, id }) => ({ type, id }));
      const ended = await this.#follow(await this.#start(items, signal), before.done, signal);
      before = { done: before.done + ended.progress.done, failed: before.failed + ended.progress.failed };
    }
    return { done: before.done - before.failed, failed: before.failed, isCanceled: this.#isCanceled };
  }

  async #start(items: readonly Item[], signal: AbortSignal): Promise<BatchJob> {
    const body = { ...this.#operation, items } as BatchBody;
    const job = (await this.#client.post('/batch', { body, signal, idempotencyKey: newId() })) as BatchJob;
    this.#jobs.push(job.id);
    return job;
  }

  async #follow(started: BatchJob, before: number, signal: AbortSignal): Promise<BatchJob> {
    let job = started;
    let isAsked = false;
    for (let pause = FIRST_ASK_MS; job.ended_at === null; pause = Math.min(pause * 1.5, ASK_MS_MAX)) {
      await new Promise((resume) => setTimeout(resume, pause));
      if (this.#isCanceled && !isAsked) {
        isAsked = true;
        // One that has just ended can no longer be canceled.
        await this.#client.post('/jobs/{id}/cancel', { path: { id: job.id }, signal }).catch(() => undefined);
      }
      job = await this.#read(job, signal);
      this.progress.set({ done: before + job.progress.done, total: this.#items.length });
    }
    return job;
  }

  /** Returns the job as it is by now; as it was if nobody can read it for a moment, while it goes on. */
  async #read(job: BatchJob, signal: AbortSignal): Promise<BatchJob> {
    try {
      // The bar shows how far it is.
      const look = inBackground(AbortSignal.any([signal]));
      return (await this.#client.get('/jobs/{id}', { path: { id: job.id }, signal: look })) as BatchJob;
    } catch (error) {
      if (isPassing(error)) return job;
      throw error;
    }
  }
}
