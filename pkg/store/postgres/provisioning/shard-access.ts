import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { SqlPool } from '../pool.ts';

/** The requirements of DDL: the operator's direct connection to a shard, a clock, and random values. */
export interface ShardAccess {
  readonly pool: SqlPool;
  readonly clock: Clock;
  readonly random: Random;
}
