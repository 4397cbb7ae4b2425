import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { Redis } from 'ioredis';
import type { ObjectStoreAccess, StoreSettings } from '../installation.ts';
import { listShards } from '../shards.ts';
import { silentLogger } from '../../runtime/log.ts';
import { SqlPool } from '../../store/postgres/pool.ts';
import { missingInRegistry, missingInShard, WORKER_ROLE } from '../../store/postgres/provisioning.ts';
import { pausedSince } from '../../store/postgres/rollouts.ts';
import { newClient } from '../../store/s3/objects.ts';
import type { Check } from './check.ts';

const OLDEST_REDIS = 7;

/**
 * Returns the checks of Postgres, Redis and the object store, as the operator reaches them. Throws CommandError without shards.
 */
export function storeChecks({ shardsDir, redisUrl, queueRedisUrl, objectStore: s3 }: StoreSettings): Check[] {
  return [
    ...listShards(shardsDir).map(({ name, url }, index): Check => ({
      subject: `shard ${name}`,
      run: () => shard(url, index === 0),
    })),
    ...(redisUrl === undefined ? [] : [{ subject: 'Redis of the tenants', run: () => redis(redisUrl, tenantsRedis) }]),
    ...(queueRedisUrl === undefined ? [] : [{ subject: 'Redis of the queues', run: () => redis(queueRedisUrl, queueRedis) }]),
    ...(s3 === undefined ? [] : [{ subject: 'object store', run: () => objectStore(s3) }]),
  ];
}

async function shard(url: string | undefined, holdsRegistry: boolean): Promise<string | string[]> {
  if (url === undefined)
    return ['its folder has no file url, so nobody can reach it. Set CARREL_SHARDS_DIR as the operator has it'];
  const pool = new SqlPool({ url, poolSize: 1, log: silentLogger });
  try {
    const [server] = await pool.query<{ version: string; tenants: string | null; workers: number }>(
      `SELECT current_setting('server_version') AS version, to_regclass('carrel.tenants')::text AS tenants,
         (SELECT count(*)::int FROM pg_stat_activity WHERE usename = $1 AND datname = current_database()) AS workers`,
      [WORKER_ROLE],
    );
    if (!server?.tenants)
      return ['has no tables of Carrel yet: no operator of this release has prepared it. Look at the operator’s log'];
    const wrong = [...lacking('carrel', await missingInShard(pool)), ...(await collationsOfBefore(pool))];
    if (holdsRegistry) wrong.push(...lacking('registry', await missingInRegistry(pool)), ...(await paused(pool)));
    if (server.workers === 0)
      wrong.push('no worker is connected: webhooks, grades and jobs wait. Look at the worker’s pods and log');
    const [tenants] = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM carrel.tenants');
    const count = tenants?.count ?? 0;
    return wrong.length > 0 ? wrong : `PostgreSQL ${server.version}, ${count} ${count === 1 ? 'tenant' : 'tenants'}`;
  } finally {
    await pool.close();
  }
}

/** `missing`: what the schema lacks of this release, by name. */
const lacking = (schema: 'carrel' | 'registry', missing: readonly string[]): string[] =>
  missing.length === 0 ? [] : [`the schema ${schema} lacks ${missing.join(', ')}: no operator of this release has led yet`];

/** Finds indexes that were built with another version of ICU: their order may differ from the one that the server expects. */
async function collationsOfBefore(pool: SqlPool): Promise<string[]> {
  const rows = await pool.query<{ name: string; built: string; present: string }>(
    `SELECT collname AS name, collversion AS built, pg_collation_actual_version(oid) AS present FROM pg_collation
     WHERE collnamespace = 'carrel'::regnamespace AND collversion <> pg_collation_actual_version(oid)`,
  );
  return rows.map(
    ({ name, built, present }) =>
      `its indexes of names were built with ICU ${built}, and the server has ${present}, so lists by name may omit rows. ` +
      `Run REINDEX DATABASE CONCURRENTLY, then ALTER COLLATION carrel.${name} REFRESH VERSION`,
  );
}

async function paused(pool: SqlPool): Promise<string[]> {
  const since = await pausedSince(pool);
  return since
    ? [`rollouts of a new image have been paused since ${since.toISOString()}. To continue: carrel rollout resume`]
    : [];
}

type Setting = (name: string) => Promise<string>;

/** Returns faults of the settings of the tenants' Redis (docs/operate/install.md, Which Redis). */
async function tenantsRedis(setting: Setting): Promise<string[]> {
  const wrong: string[] = [];
  const policy = await setting('maxmemory-policy');
  if (!policy.startsWith('allkeys-'))
    wrong.push(`its maxmemory-policy is ${policy}: a tenant that fills it locks out all others. Set it to allkeys-lfu`);
  for (const name of ['maxmemory', 'maxmemory-clients'])
    if ((await setting(name)) === '0') wrong.push(`its ${name} is 0: one tenant can take all memory of the machine. Set it`);
  if ((await setting('aclfile')) === '')
    wrong.push('has no aclfile: it loses its users at each restart, until the operator creates them again. Set aclfile');
  return wrong;
}

async function queueRedis(setting: Setting): Promise<string[]> {
  const policy = await setting('maxmemory-policy');
  return policy === 'noeviction' ? [] : [`its maxmemory-policy is ${policy}, which drops jobs halfway. Set it to noeviction`];
}

async function redis(url: string, faultsOf: (setting: Setting) => Promise<string[]>): Promise<string | string[]> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 5_000, maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(await client.info('server'))?.[1] ?? '?';
    const setting = async (name: string): Promise<string> => ((await client.config('GET', name)) as string[])[1] ?? '';
    const wrong = await faultsOf(setting);
    if (Number.parseInt(version, 10) < OLDEST_REDIS) wrong.push(`is version ${version}. Upgrade it to ${OLDEST_REDIS} or later`);
    return wrong.length > 0 ? wrong : `version ${version}, ${await setting('maxmemory-policy')}`;
  } finally {
    client.disconnect();
  }
}

async function objectStore(access: ObjectStoreAccess): Promise<string> {
  const client = newClient(access);
  try {
    const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
    return `${access.endpoint}, ${Buckets.length} ${Buckets.length === 1 ? 'bucket' : 'buckets'}`;
  } finally {
    client.destroy();
  }
}
