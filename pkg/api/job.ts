import type { z } from 'zod';
import type { BackOff } from '../runtime/backoff.ts';
import { INTERNAL_BACK_OFF } from './retry-schedule.ts';
import { DEFAULT_QUEUE } from '../store/postgres/job-store.ts';

/**
 * A kind of later work, declared beside its feature (`<x>.jobs.ts`): the server requests it and the worker processes it.
 * It is light, so that the server may import it; only the worker imports its Processor (processor.ts).
 */
export interface Job<Payload extends z.ZodType = z.ZodType> {
  /** Stored in rows, so it never changes. */
  readonly kind: string;
  /** cmd/worker/jobs.ts sets by this name how many of its jobs run at once. */
  readonly queue: string;
  readonly payload: Payload;
  /** Waits after attempts that failed unexpectedly. A processor with better knowledge throws TryLater. */
  readonly retry: BackOff;
}

type JobDeclaration<Payload extends z.ZodType> = Pick<Job<Payload>, 'kind' | 'payload'> & Partial<Job<Payload>>;

/** Declares a job. Defaults: the queue of jobs that need only our own stores, and waits of 1 s … 15 min. */
export const job = <Payload extends z.ZodType>(declaration: JobDeclaration<Payload>): Job<Payload> => ({
  queue: DEFAULT_QUEUE,
  retry: INTERNAL_BACK_OFF,
  ...declaration,
});
