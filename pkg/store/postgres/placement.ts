import type { Sql } from './pool.ts';

/** The shards on which a tenant may be placed. */
export interface PlacementRequest {
  /** The shard that the tenant requests; default: the least full. */
  readonly shard?: string;
  /** The configured shards. */
  readonly shards: readonly string[];
  /** Returns those of them that answer; a new tenant that requests no shard is placed on one of these. Default: all. */
  readonly answering?: () => Promise<readonly string[]>;
  readonly maxPerShard?: number;
}

/** No configured shard has room, or the requested one does not exist. */
export class NoShard extends Error {
  override readonly name = 'NoShard';
}

export const MAX_TENANTS_PER_SHARD = 1_000;

/** Returns the configured shards among which a new tenant is placed: those that answer, unless none does. */
export async function candidateShards({ shard, shards, answering }: PlacementRequest): Promise<readonly string[]> {
  const found = shard === undefined ? await answering?.() : undefined;
  return found && found.length > 0 ? found : shards;
}

/**
 * Returns the shard for a new tenant: the requested one, or the least full. Claims run one after the other here (the shards' rows
 * are locked), so that the limit of a shard is exact. Throws NoShard.
 */
export async function placeTenant(tx: Sql, request: PlacementRequest): Promise<string> {
  const { shard: wanted, shards, maxPerShard: most = MAX_TENANTS_PER_SHARD } = request;
  if (wanted !== undefined && !shards.includes(wanted))
    throw new NoShard(`there is no shard ${wanted}; the operator knows ${shards.join(', ') || 'none'}`);
  await tx.query('INSERT INTO registry.shards (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [[...shards].sort()]);
  await tx.query('SELECT FROM registry.shards ORDER BY name FOR UPDATE');
  const [least] = await tx.query<{ name: string }>(
    `SELECT s.name FROM registry.shards s LEFT JOIN registry.tenants t ON t.shard = s.name
     WHERE s.name = ANY ($1) GROUP BY s.name HAVING count(t.id) < $2 ORDER BY count(t.id), s.name LIMIT 1`,
    [wanted === undefined ? [...shards] : [wanted], most],
  );
  if (!least)
    throw new NoShard(
      wanted === undefined ? `every shard holds ${most} tenants; add one` : `shard ${wanted} holds ${most} tenants`,
    );
  return least.name;
}
