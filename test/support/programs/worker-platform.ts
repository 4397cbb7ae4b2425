import { systemClock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { formatSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureShard } from '../../../pkg/store/postgres/provisioning.ts';
import { writeMarker } from '../../../pkg/store/s3/owner-marker.ts';
import { Registry } from '../../../pkg/store/postgres/registry.ts';
import { newSlug, startTenant, type TestTenant } from './server.ts';
import { stores, type TestStores } from '../backends/stores.ts';

/** Stores of the test's own, with a registry as the operator leaves it. */
export interface TestPlatform {
  readonly stores: TestStores;
  /** The operator's pool. */
  readonly pool: SqlPool;
  /** CARREL_PLATFORM_KEYS */
  readonly platformKeys: string;
  /** The worker's own address of the shard. */
  readonly workerUrl: string;
  /** A registry as the worker opens it. */
  registryOn(pool: SqlPool): Registry;
  /** A tenant that the worker finds in the registry, its data keys derived from the platform's. */
  tenant(): Promise<TestTenant>;
  stop(): Promise<void>;
}

/** `durable` as in test/support/backends/stores.ts. */
export async function startPlatform(options: { durable?: boolean } = {}): Promise<TestPlatform> {
  const running = await stores(options);
  const time = { clock: systemClock, random: systemRandom };
  const keys = [{ id: 'p1', key: systemRandom.bytes(32) }];
  const pool = new SqlPool({ url: running.postgres.operator, poolSize: 5, log: silentLogger });
  await ensureShard({ pool, ...time });
  const registryOn = (of: SqlPool): Registry => new Registry({ pool: of, sealer: new Sealer(keys, systemRandom), ...time });
  await registryOn(pool).ensureSchema();
  const tenants: TestTenant[] = [];
  return {
    stores: running,
    pool,
    platformKeys: formatSealingKeys(keys),
    workerUrl: running.postgres.worker,
    registryOn,
    tenant: async () => {
      const slug = newSlug();
      const owner = { namespace: 'test', namespaceUid: 'uid', name: slug };
      const claim = await registryOn(pool).claim({ slug, owner, hosts: [], shards: ['one'] });
      const tenant = await startTenant({ stores: running, registered: { slug, tenantId: claim.tenantId, platformKeys: keys } });
      const { config } = tenant;
      const storage = {
        endpoint: config.CARREL_S3_ENDPOINT,
        region: config.CARREL_S3_REGION,
        bucket: config.CARREL_S3_BUCKET,
        prefix: '',
        accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
        secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
      };
      const marker = `tenant ${claim.tenantId} of a test`;
      const sealed = JSON.stringify({ ...storage, guarded: 'false', marker });
      await registryOn(pool).setStorage(claim.tenantId, { ...storage, isOwn: true }, sealed);
      await writeMarker(tenant.objects, marker);
      tenants.push(tenant);
      return tenant;
    },
    stop: async () => {
      await Promise.all(tenants.map((tenant) => tenant.stop()));
      await pool.close();
      await running.stop();
    },
  };
}
