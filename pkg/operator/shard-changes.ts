import { sleepUnlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Shards } from './shards.ts';

/** One kind of change that tenants and workers leave in a shard for the operator, which alone writes to the API server. */
export interface ShardChanges<Row extends object> {
  /** Returns false if no resource can be affected; then the shards are not polled. */
  isWanted(): boolean;
  /** A SELECT of the pending changes; its columns arrive as JSON. No rows: nothing to do. */
  readonly select: string;
  /** Handles the rows and marks or deletes them, so that they are not selected again. */
  onChange(pool: SqlPool, rows: readonly Row[]): Promise<void>;
}

interface Deps {
  readonly shards: Shards;
  readonly clock: Clock;
  readonly log: Logger;
  /** The interval between two polls. Default: 5 s. */
  readonly shardPollMs?: number;
  /** Called when the shard is lost, since two polls failed, and when it answers again, even after one failed poll. */
  onTurn(shard: string, isUp: boolean): Promise<void>;
}

const POLL_MS = 5_000;
/** The least time between two polls, however often tenants notify. */
const POLL_MIN_MS = 500;
/** A trigger in the shard sends this notification for changes that must not wait for the next poll. */
const LISTEN = 'LISTEN carrel_operator';
/** A restart of Postgres is not a loss that the conditions of all its tenants must report. */
const MISSES_OF_A_LOSS = 2;

/**
 * Polls every shard for changes until the signal is aborted. A poll is one SELECT per shard for all kinds, and none if no kind
 * needs one. A notification of the shard starts a poll at once. Nothing is written while there are no changes. A shard that does
 * not answer delays no other.
 */
export async function watchShards(kinds: readonly ShardChanges<never>[], deps: Deps, signal: AbortSignal): Promise<void> {
  await Promise.all(deps.shards.names.map((name) => watchShard(name, kinds, deps, signal)));
  deps.shards.endPolls();
}

async function watchShard(name: string, kinds: readonly ShardChanges<never>[], deps: Deps, signal: AbortSignal): Promise<void> {
  const { shards, clock, log, shardPollMs = POLL_MS, onTurn } = deps;
  let misses = 0;
  let notified = new AbortController();
  shards.onNotification(name, () => notified.abort());
  while (!signal.aborted) {
    const leastMs = Math.min(POLL_MIN_MS, shardPollMs);
    await sleepUnlessAborted(clock, leastMs, signal);
    await sleepUnlessAborted(clock, shardPollMs - leastMs, AbortSignal.any([signal, notified.signal]));
    notified = new AbortController();
    const wanted = kinds.filter((kind) => kind.isWanted());
    if (signal.aborted || wanted.length === 0) continue;
    try {
      await shards.poll(name, (pool) => poll(pool, wanted));
    } catch (error) {
      log.debug({ err: error, shard: name }, 'polling a shard for changes failed; will retry');
    }
    const before = misses;
    misses = shards.polled.get(name) === false ? misses + 1 : 0;
    if (misses === MISSES_OF_A_LOSS || (misses === 0 && before > 0)) await onTurn(name, misses === 0);
  }
}

async function poll(pool: SqlPool, kinds: readonly ShardChanges<never>[]): Promise<void> {
  const selects = kinds.map(({ select }, kind) => `SELECT ${kind} AS kind, to_jsonb(change) AS change FROM (${select}) change`);
  const found = await pool.query<{ kind: number; change: never }>(`${LISTEN}; ${selects.join(' UNION ALL ')}`);
  for (const [index, kind] of kinds.entries()) {
    const rows = found.filter((row) => row.kind === index).map(({ change }) => change);
    if (rows.length > 0) await kind.onChange(pool, rows);
  }
}
