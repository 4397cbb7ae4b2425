import type { Sql } from '../store/postgres/pool.ts';
import type { Json } from '../store/postgres/work.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { Objects } from '../store/s3/objects.ts';
import type { TenantStorage } from './tenants.ts';

/** What a processor may use: only what is this one tenant's. */
export interface JobContext {
  readonly slug: string;
  /** The payload of the row. */
  readonly payload: Json;
  /** When it was asked for. */
  readonly requestedAt: Date;
  /** Of this attempt; whoever has lost it finds another fence in the row. */
  readonly lease: { readonly id: number; readonly fence: string };
  /** Aborted when the lease has passed to another: what is still to be done is not ours any more. */
  readonly signal: AbortSignal;
  /** One transaction with the tenant's own role: its schema and rows, nothing else. */
  transaction<T>(fn: (tx: Sql) => Promise<T>): Promise<T>;
  /** The tenant's bucket, with its own key. */
  objects(): Promise<Objects>;
  /** The same, with what marks the objects there as the tenant's. */
  storage(): Promise<TenantStorage>;
  /** The platform's Redis; the tenant's keys begin with `keyPrefix`. */
  readonly redis: Redis;
  readonly keyPrefix: string;
}

/** Does one kind of work. May run twice for one row, after a crash or a lost lease, so it must not mind. Throws to be tried again. */
export type Processor = (context: JobContext) => Promise<void>;

/** This attempt came to nothing that surprises: the next one follows after `afterMs`, whatever the line's own back-off. */
export class TryLater extends Error {
  override readonly name = 'TryLater';
  readonly afterMs: number;

  constructor(message: string, afterMs: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

/** The work is another's by now, who has or will have done it. */
export class LostLease extends Error {
  override readonly name = 'LostLease';
}

/** Work that no attempt can ever do: of an unknown kind, or with a payload of the wrong form. It becomes a dead letter at once. */
export class UnprocessableWork extends Error {
  override readonly name = 'UnprocessableWork';
}
