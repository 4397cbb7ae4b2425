import { Redis as RedisClient } from 'ioredis';
import type { ObjectKey } from '../../../pkg/kube/object.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { Objects, type ObjectsOptions } from '../../../pkg/store/s3/objects.ts';
import { type Cluster, secretValues } from './operator.ts';

/** The values in the Secrets of a tenant. */
export interface TenantSecrets {
  readonly databaseUrl: string;
  readonly nextPassword: string | undefined;
  readonly redisUrl: string;
  readonly storage: ObjectsOptions;
  readonly kids: string[];
}

export async function secretsOf(cluster: Cluster, { namespace, name }: ObjectKey): Promise<TenantSecrets> {
  const [database, redis, storage, keys] = await Promise.all(
    ['database', 'redis', 'storage', 'keys'].map(async (of) => (await secretValues(cluster, namespace, `${name}-${of}`)) ?? {}),
  );
  return {
    databaseUrl: database?.['url'] ?? '',
    nextPassword: database?.['nextPassword'],
    redisUrl: redis?.['url'] ?? '',
    storage: storage as unknown as ObjectsOptions,
    kids: (JSON.parse(keys?.['signing.json'] ?? '{}') as { keys: { kid: string }[] }).keys.map(({ kid }) => kid),
  };
}

/** Tries each store with what the Secrets say; returns which of them let it in. */
export async function opens({
  databaseUrl,
  redisUrl,
  storage,
}: TenantSecrets): Promise<Record<'database' | 'redis' | 'storage', boolean>> {
  const ok = (work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => true,
      () => false,
    );
  const sql = new SqlPool({ url: databaseUrl, poolSize: 1, log: silentLogger });
  const redis = new RedisClient(redisUrl, {
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => undefined);
  const objects = new Objects(storage);
  try {
    const [database, cache, bucket] = await Promise.all([
      ok(sql.ping()),
      ok(redis.connect().then(() => redis.ping())),
      ok(objects.put('00/rotated', Buffer.from('content'))),
    ]);
    return { database, redis: cache, storage: bucket };
  } finally {
    objects.close();
    redis.disconnect();
    await sql.close();
  }
}
