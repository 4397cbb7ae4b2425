import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { SqlPool } from '../store/postgres/pool.ts';
import type { Shards } from './shards.ts';

/** One kind of what tenants and workers leave in a shard for the operator, who alone speaks to the API server. */
export interface News<Row extends object> {
  /** False: nobody is there whom it could concern, and it is not asked for. */
  isWanted(): boolean;
  /** A SELECT of what has not been heard; its columns come as JSON. No rows: at rest. */
  readonly select: string;
  /** Sees to it that the rows are not selected again, and does what they ask for. */
  hear(pool: SqlPool, rows: readonly Row[]): Promise<void>;
}

interface Deps {
  readonly shards: Shards;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_EVERY_MS = 5_000;

/**
 * Looks for news in every shard until the signal is aborted. A look is one SELECT a shard, however many kinds there are, and none while none is wanted;
 * at rest nothing is written.
 */
export async function followNews(kinds: readonly News<never>[], { shards, clock, log }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
    const wanted = kinds.filter((kind) => kind.isWanted());
    if (signal.aborted || wanted.length === 0) continue;
    for (const name of shards.names) {
      try {
        await look((await shards.open(name)).pool, wanted);
      } catch (error) {
        log.debug({ err: error, shard: name }, 'the news of a shard is read at the next look');
      }
    }
  }
}

async function look(pool: SqlPool, kinds: readonly News<never>[]): Promise<void> {
  const selects = kinds.map(({ select }, kind) => `SELECT ${kind} AS kind, to_jsonb(news) AS news FROM (${select}) news`);
  const found = await pool.query<{ kind: number; news: never }>(selects.join(' UNION ALL '));
  for (const [index, kind] of kinds.entries()) {
    const rows = found.filter((row) => row.kind === index).map(({ news }) => news);
    if (rows.length > 0) await kind.hear(pool, rows);
  }
}
