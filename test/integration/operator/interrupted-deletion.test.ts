import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { EventRecorder } from '../../../pkg/kube/events.ts';
import { informer } from '../../../pkg/kube/informer.ts';
import { DEPLOYMENT, NAMESPACE, POD } from '../../../pkg/kube/kinds.ts';
import { Store } from '../../../pkg/kube/store.ts';
import { guardedSockets } from '../../../pkg/net/guarded-sockets.ts';
import { ConditionWriter } from '../../../pkg/operator/conditions/writer.ts';
import { OwnedInformers } from '../../../pkg/operator/informers.ts';
import { TENANT, type ObservedTenant } from '../../../pkg/operator/kinds.ts';
import { FINALIZER } from '../../../pkg/operator/names.ts';
import { readShards, Shards } from '../../../pkg/operator/shards.ts';
import { AcceptanceStep } from '../../../pkg/operator/tenant/acceptance/acceptance-step.ts';
import { TenantFinalizer } from '../../../pkg/operator/tenant/deletion/finalizer.ts';
import { Migrations } from '../../../pkg/operator/tenant/database/migrations.ts';
import { Moves } from '../../../pkg/operator/tenant/moves/moves.ts';
import { TenantAccess } from '../../../pkg/operator/tenant-rows.ts';
import { Rollouts } from '../../../pkg/operator/tenant/workload/rollouts.ts';
import { TenantRedis } from '../../../pkg/operator/tenant/redis/redis-users.ts';
import { settingsWith } from '../../support/cluster/tenant-resources.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { ensureTenantDatabase, LATEST_VERSION, migrateTenant, schemaVersion } from '../../../pkg/store/postgres/provisioning.ts';
import { redisUser } from '../../../pkg/store/redis/acl.ts';
import { bucketName, StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';
import { tenantOf, unique } from '../../support/cluster/operator.ts';
import { testBackends } from '../../support/backends/backends.ts';

const { cluster, namespace } = operatorSuite({ shared: 'idle' });

/** Loses the leadership while it removes the first bucket. */
class InterruptedAdmin extends StorageAdmin {
  readonly stopping = new AbortController();

  override async removeBucketWithUser(...gone: Parameters<StorageAdmin['removeBucketWithUser']>): Promise<boolean> {
    const isGone = await super.removeBucketWithUser(...gone);
    this.stopping.abort(new Error('leadership was lost'));
    return isGone;
  }
}

/** A Tenant that is being deleted, with a schema, a Redis user and a bucket, and the finalizer of one operator. */
async function deletedTenant() {
  const { stores } = testBackends();
  const sealer = new Sealer(parseSealingKeys(stores.platformKeys), random);
  const shards = new Shards({ shards: readShards(stores.shardsDir), sealer, clock, random, log });
  const redis = new TenantRedis({ url: stores.redis.adminUrl, log });
  const storage = new InterruptedAdmin(stores.s3);
  const admin = new Redis(stores.redis.adminUrl);
  cluster.onClose(async () => {
    storage.close();
    await Promise.all([shards.close(), redis.close(), admin.quit()]);
  });
  const observed = { client: cluster.client, clock, random, log, metrics: createMetrics('test') };
  const tenants = informer({ ...observed, kind: TENANT });
  const namespaces = new Store({ kind: NAMESPACE });
  const events = new EventRecorder({ ...observed, controller: 'carrel.dev/test', instance: 'test' });
  const finalizer = new TenantFinalizer({
    tenants,
    owned: new OwnedInformers((kind) => informer({ ...observed, kind })),
    pods: cluster.of(POD),
    acceptance: new AcceptanceStep({ settings: settingsWith(), shards, namespaces, clock }),
    shards,
    storage,
    connect: guardedSockets({ allow: [], clock }),
    redis,
    moves: new Moves({
      shards,
      access: new TenantAccess({ tenants: tenants.store, namespaces, shards, platformKeys: [], random }),
    }),
    migrations: new Migrations({ concurrency: 1 }),
    rollouts: new Rollouts({
      ...observed,
      settings: settingsWith(),
      concurrency: 1,
      deployments: new Store({ kind: DEPLOYMENT }),
    }),
    conditions: new ConditionWriter({ informer: tenants, events, clock }),
    events,
    clock,
  });

  const slug = unique();
  const key = { namespace, name: slug };
  const home = await cluster.of(NAMESPACE).get({ namespace: '', name: namespace });
  namespaces.upsert(home);
  const owner = { namespace, namespaceUid: home.metadata.uid, name: slug };
  const registry = await shards.registry();
  const { tenantId, shard: name } = await registry.claim({ slug, owner, hosts: [], shards: shards.names });
  const shard = await shards.open(name);
  await ensureTenantDatabase(shard, { slug, tenantId, password: random.hex(16), connections: 4 });
  await migrateTenant(shard, { slug, tenantId });
  await redis.ensure(slug, [random.hex(16)]);
  const bucket = bucketName(slug);
  const secretAccessKey = random.hex(20);
  await registry.ensureSecret(tenantId, 'bucket', () => JSON.stringify({ accessKeyId: bucket, secretAccessKey }));
  await storage.ensureBucketWithUser({ bucket, accessKeyId: bucket, secretAccessKey });
  const wanted = tenantOf(namespace, slug, { deletionPolicy: 'Delete' });
  await cluster.tenants.create({ ...wanted, metadata: { ...wanted.metadata, finalizers: [FINALIZER] } });
  await cluster.tenants.delete(key);
  const tenant = (await cluster.tenants.get(key)) as ObservedTenant;

  const left = async () => ({
    registered: (await registry.find(slug))?.state,
    schema: await schemaVersion(shard, slug),
    redisUser: (await admin.call('ACL', ['GETUSER', redisUser(slug)])) !== null,
    resource: (await cluster.tenants.find(key)) !== undefined,
  });
  return { finalizer, tenant, stopping: storage.stopping, left };
}

test('a deletion that loses the leadership midway touches nothing else of that name; the next leader ends it', async () => {
  const { finalizer, tenant, stopping, left } = await deletedTenant();

  await expect(finalizer.finalize(tenant, stopping.signal)).rejects.toThrow('leadership was lost');
  const interrupted = await left();
  await finalizer.finalize(tenant, new AbortController().signal);

  expect(interrupted).toEqual({ registered: 'deleting', schema: LATEST_VERSION, redisUser: true, resource: true });
  expect(await left()).toEqual({ registered: undefined, schema: null, redisUser: false, resource: false });
});
