import { controllerOf } from '../../../pkg/kube/owner.ts';
import type { Kind, KubeObject, ObjectKey, Observed } from '../../../pkg/kube/object.ts';
import { FINALIZER } from '../../../pkg/operator/names.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { tenantMigrations } from '../../../pkg/store/postgres/migrations/tenant/index.ts';
import { quoteIdentifier, SqlPool } from '../../../pkg/store/postgres/pool.ts';
import { ensureTenantDatabase, LATEST_VERSION, tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import { RedisUsers } from '../../../pkg/store/redis/acl.ts';
import { bucketName, StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { children, type Cluster, newNamespace, ready, tenantOf, unique } from '../../support/cluster/operator.ts';
import { waitFor } from '../../support/wait.ts';
import type { Run } from './run.ts';

/** Tenants made at once; the operator runs as many reconciles at once. */
export const CONCURRENCY = 8;

/** The control: it writes what the operator writes, without looking at anything. */
export interface BareClient {
  /** The namespace of its objects, where no operator finds a Tenant. */
  readonly namespace: string;
  /** For a tenant of this name, the same objects, finalizer, two status writes, one Event, schema, Redis user and bucket. */
  make(name: string): Promise<void>;
  close(): Promise<void>;
}

/** `url`: of the shard that its tenants are on, as the operator's role. */
export async function bareClient({ cluster, namespace }: Run, url: string): Promise<BareClient> {
  const key = { namespace, name: unique('model') };
  await cluster.tenants.create(tenantOf(namespace, key.name));
  const model = await ready(cluster.tenants, key);
  const objects = await objectsOf(cluster, key);
  await cluster.tenants.delete(key);
  await waitFor('the model to go', async () => (await cluster.tenants.find(key)) === undefined);
  const { stores } = testBackends();
  const shard = { pool: new SqlPool({ url, poolSize: CONCURRENCY, log: silentLogger }), clock, random };
  const redis = new RedisUsers({ url: stores.redis.adminUrl, log: silentLogger });
  const storage = new StorageAdmin(stores.s3);
  // Its own namespace holds no Tenant that the operator would look at: they are ConfigMaps of the same size.
  const own = await newNamespace(cluster);
  let nextId = 1_000_000_000;
  return {
    namespace: own,
    make: async (name) => {
      const metadata = { namespace: own, name };
      const tenants = cluster.of(children.CONFIG_MAP);
      const size = { data: { spec: JSON.stringify(model.spec) } };
      await tenants.create({ metadata: { ...metadata, name: `${name}-tenant` }, ...size });
      const change = (data: object) => tenants.patch({ ...metadata, name: `${name}-tenant` }, { data });
      await change({ finalizer: FINALIZER });
      await change({ status: JSON.stringify(model.status).slice(0, 300) });
      const tenant = { slug: name, tenantId: String((nextId += 1)) };
      await ensureTenantDatabase(shard, { ...tenant, password: random.hex(16), connections: 12 });
      await migrate(shard.pool, tenant);
      await redis.ensure({ slug: name, passwords: [random.hex(16)] });
      const bucket = bucketName(name);
      await storage.ensureBucketWithUser({ bucket, accessKeyId: bucket, secretAccessKey: random.hex(16) });
      for (const { kind, object } of objects)
        await cluster
          .of(kind)
          .create({ ...object, metadata: { ...metadata, name: object.metadata.name.replace(key.name, name) } });
      await change({ status: JSON.stringify(model.status) });
      await cluster.of(children.EVENT).create({
        metadata: { namespace: own, name },
        eventTime: `${new Date().toISOString().slice(0, -1)}000Z`,
        reportingController: 'carrel.dev/bench',
        reportingInstance: 'bench',
        action: 'Ready',
        reason: 'Ready',
        type: 'Normal',
        regarding: { kind: 'ConfigMap', namespace: own, name },
      });
    },
    close: async () => {
      storage.close();
      await Promise.all([redis.close(), shard.pool.close()]);
    },
  };
}

/** Migrates as tools for migrations do: each migration and its record in one transaction, and no other statement. */
async function migrate(pool: SqlPool, { slug, tenantId }: { slug: string; tenantId: string }): Promise<void> {
  const role = tenantRole(slug);
  for (const { name, up } of tenantMigrations)
    await pool.transaction(async (tx) => {
      await tx.query(`SET LOCAL search_path = ${quoteIdentifier(role)}, ext; SET LOCAL client_min_messages = 'error'`);
      await tx.query(up({ role, tenantId }));
      await tx.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name]);
    });
  await pool.query('UPDATE carrel.tenants SET schema_version = $2 WHERE role = $1', [role, LATEST_VERSION]);
}

/** The children of a tenant as they would be created. */
async function objectsOf(cluster: Cluster, key: ObjectKey): Promise<{ kind: Kind<KubeObject>; object: Observed<KubeObject> }[]> {
  const kinds = Object.values(children).filter(
    (kind) => kind !== children.EVENT && kind !== children.NAMESPACE,
  ) as Kind<KubeObject>[];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const owned = (await cluster.of(kind).list({ namespace: key.namespace })).filter(
        (object) => controllerOf(object)?.name === key.name,
      );
      return owned.map((object) => ({ kind, object: plain(kind, object) }));
    }),
  );
  return lists.flat();
}

function plain(kind: Kind, found: Observed<KubeObject>): Observed<KubeObject> {
  const { status: _status, ...object } = structuredClone(found) as Observed<KubeObject> & {
    status?: unknown;
    spec?: Record<string, unknown>;
  };
  if (kind.kind === 'Service') for (const field of ['clusterIP', 'clusterIPs']) delete object.spec?.[field];
  return object;
}
