import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Kind, KubeObject, ObjectKey, Observed } from '../../pkg/kube/object.ts';
import { controllerOf } from '../../pkg/kube/owner.ts';
import { systemClock as clock } from '../../pkg/runtime/clock.ts';
import { silentLogger } from '../../pkg/runtime/log.ts';
import { systemRandom as random } from '../../pkg/runtime/random.ts';
import { SqlPool } from '../../pkg/store/postgres/pool.ts';
import { ensureTenantDatabase, migrateTenant } from '../../pkg/store/postgres/provisioning.ts';
import { RedisUsers } from '../../pkg/store/redis/acl.ts';
import { bucketName, StorageAdmin } from '../../pkg/store/s3/admin.ts';
import { TENANT } from '../../pkg/operator/kinds.ts';
import { FINALIZER } from '../../pkg/operator/names.ts';
import { median } from '../faults/latency.ts';
import { ROOT, testBackends } from '../support/backends.ts';
import {
  children,
  type Cluster,
  conditionOf,
  difference,
  follow,
  newNamespace,
  type OperatorProcess,
  playPods,
  ready,
  startCluster,
  startOperator,
  tenantOf,
  unique,
  writes,
} from '../support/operator.ts';
import { startTestBackends } from '../support/start-backends.ts';
import { inParallel, range, waitFor } from '../support/wait.ts';
import { type Line, progress } from './measure.ts';

/** `make bench LINES=operator TENANTS=5000 REST_MS=600000`. */
const TENANTS = Number(process.env['TENANTS'] ?? 1_000);
const REST_MS = Number(process.env['REST_MS'] ?? 600_000);
/** Ours and the control by turns, so that both meet a catalog that grows. */
const ROUNDS = 4;
/** As many reconciles run at once in the operator. */
const CONCURRENCY = 8;
const EDITS = 100;
const MIB = 2 ** 20;
/** Events are written late: those of the last tenant too. */
const EVENTS_MS = 45_000;
const LIMIT_MS = 120_000 + TENANTS * 3_000;

/** What the operator costs with many tenants; their pods are played. */
export async function operator(): Promise<Line[]> {
  const stopTestBackends = await startTestBackends();
  const cluster = await startCluster();
  try {
    playPods(cluster);
    const env = {
      CARREL_MAX_TENANTS_PER_SHARD: '1000000',
      CARREL_OPS_PORT: '0',
      CARREL_ROLLOUT_CONCURRENCY: '10000',
    };
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
    const running = await startOperator(cluster, { env, asInImage: true });
    const namespace = await newNamespace(cluster);
    const onboarded = await onboarding(cluster, namespace, running);
    const rested = await rest(cluster, running);
    const repaired = await repairs(cluster, namespace);
    return [...onboarded, ...rested, repaired, ...(await restart(cluster, running, env))];
  } finally {
    await cluster.close();
    await stopTestBackends();
  }
}

async function onboarding(cluster: Cluster, namespace: string, { pid }: OperatorProcess): Promise<Line[]> {
  const control = await bareClient(cluster, namespace);
  const { store, stop } = follow(cluster, TENANT, namespace);
  const readyOnes = (): number => store.list().filter((tenant) => conditionOf(tenant, 'Ready')?.status === 'True').length;
  const took = { ours: 0, control: 0 };
  const wrote = { ours: 0, control: 0 };
  const measured = async (who: 'ours' | 'control', work: () => Promise<unknown>): Promise<void> => {
    const before = await writes(cluster);
    const started = performance.now();
    await work();
    took[who] += performance.now() - started;
    wrote[who] += countOf(difference(before, await writes(cluster)));
  };
  const each = Math.ceil(TENANTS / ROUNDS);
  for (const round of range(ROUNDS)) {
    const names = range(each).map(() => unique('many'));
    await measured('control', () =>
      inParallel(
        names.map((name) => `${name}-c`),
        CONCURRENCY,
        (name) => control.make(name),
      ),
    );
    const already = readyOnes();
    await measured('ours', async () => {
      await inParallel(names, CONCURRENCY, (name) => cluster.tenants.create(tenantOf(namespace, name)).then(() => undefined));
      await waitFor('all to be Ready', () => readyOnes() >= already + each, LIMIT_MS);
    });
    progress(`operator: ${(round + 1) * each} of ${each * ROUNDS} tenants are Ready, ${(memoryOf(pid) / MIB).toFixed(0)} MiB`);
  }
  await Promise.all([stop(), control.close()]);
  const all = each * ROUNDS;
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(0)} s`;
  return [
    {
      what: `${all} Tenants to Ready`,
      ours: `${seconds(took.ours)}, ${(took.ours / all).toFixed(0)} ms each`,
      control: `${seconds(took.control)} for a bare client`,
      ratio: took.ours / took.control,
      target: '≤ 1.5 ×',
      met: took.ours <= 1.5 * took.control,
    },
    {
      what: 'writes to the API server for each of them',
      ours: (wrote.ours / all).toFixed(1),
      control: `${(wrote.control / all).toFixed(1)} for a bare client`,
      ratio: wrote.ours / wrote.control,
      target: '≤ 1.1 ×',
      met: wrote.ours <= 1.1 * wrote.control,
    },
  ];
}

const countOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Makes for a tenant what the operator makes, and no more: the same objects, finalizer, two status writes, one Event, schema, Redis user and bucket. */
async function bareClient(cluster: Cluster, namespace: string): Promise<{ make(name: string): Promise<void>; close(): Promise<void> }> {
  const key = { namespace, name: unique('model') };
  await cluster.tenants.create(tenantOf(namespace, key.name));
  const model = await ready(cluster.tenants, key);
  const objects = await objectsOf(cluster, key);
  await cluster.tenants.delete(key);
  await waitFor('the model to go', async () => (await cluster.tenants.find(key)) === undefined);
  const { stores } = testBackends();
  const shard = { pool: new SqlPool({ url: stores.postgres.operator, poolSize: CONCURRENCY, log: silentLogger }), clock, random };
  const redis = new RedisUsers({ url: stores.redis.adminUrl, log: silentLogger });
  const storage = new StorageAdmin(stores.s3);
  // Its own namespace holds no Tenant that the operator would look at: they are ConfigMaps of the same size.
  const own = await newNamespace(cluster);
  let nextId = 1_000_000_000;
  return {
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
      await migrateTenant(shard, tenant);
      await redis.ensure({ slug: name, passwords: [random.hex(16)] });
      const bucket = bucketName(name);
      await storage.ensureBucketWithUser({ bucket, accessKeyId: bucket, secretAccessKey: random.hex(16) });
      for (const { kind, object } of objects)
        await cluster.of(kind).create({ ...object, metadata: { ...metadata, name: object.metadata.name.replace(key.name, name) } });
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

/** The children of a tenant as they would be created. */
async function objectsOf(cluster: Cluster, key: ObjectKey): Promise<{ kind: Kind<KubeObject>; object: Observed<KubeObject> }[]> {
  const kinds = Object.values(children).filter((kind) => kind !== children.EVENT && kind !== children.NAMESPACE) as Kind<KubeObject>[];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const owned = (await cluster.of(kind).list({ namespace: key.namespace })).filter((object) => controllerOf(object)?.name === key.name);
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

async function rest(cluster: Cluster, running: OperatorProcess): Promise<Line[]> {
  await new Promise((resolve) => setTimeout(resolve, EVENTS_MS));
  const before = await writes(cluster);
  const counted = await cluster.tenants.list();
  progress(`operator: at rest for ${REST_MS / 1_000} s`);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const written = countOf(difference(before, await writes(cluster)));
  const memory = memoryOf(running.pid) / MIB;
  const allowed = 100 + (20 * counted.length) / 1_000;
  return [
    { what: `writes in ${REST_MS / 1_000} s at rest`, ours: String(written), control: '', target: '0', met: written === 0 },
    {
      what: `memory of the operator with ${counted.length} Tenants`,
      ours: `${memory.toFixed(0)} MiB`,
      control: '',
      target: `< ${allowed.toFixed(0)} MiB`,
      met: memory < allowed,
    },
  ];
}

/** What a process has to itself, in bytes (proc(5), smaps_rollup). */
function memoryOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return ['Private_Clean', 'Private_Dirty'].reduce(
    (sum, field) => sum + 1_024 * Number(new RegExp(`^${field}: +(\\d+)`, 'm').exec(rollup)?.[1] ?? 0),
    0,
  );
}

async function repairs(cluster: Cluster, namespace: string): Promise<Line> {
  const configMaps = cluster.of(children.CONFIG_MAP);
  const all = (await cluster.tenants.list({ namespace })).map(({ metadata }) => ({ namespace, name: metadata.name }));
  const times: number[] = [];
  const edits: number[] = [];
  for (const index of range(EDITS)) {
    const key = all[(index * 7) % all.length] ?? { namespace, name: '' };
    const before = (await configMaps.get(key)).data?.['CARREL_TENANT_SLUG'];
    const started = performance.now();
    await configMaps.patch(key, { data: { CARREL_TENANT_SLUG: 'edited by hand' } });
    const edited = performance.now();
    while ((await configMaps.get(key)).data?.['CARREL_TENANT_SLUG'] !== before);
    edits.push(edited - started);
    times.push(performance.now() - edited);
  }
  const p99 = times.toSorted((a, b) => a - b)[Math.ceil(EDITS * 0.99) - 1] ?? Infinity;
  return {
    what: `drift of an owned object repaired, p99 of ${EDITS}`,
    ours: `${p99.toFixed(0)} ms`,
    control: `${median(edits).toFixed(0)} ms for the edit, median`,
    target: '< 1,000 ms',
    met: p99 < 1_000,
  };
}

/** Stops the operator and starts another. */
async function restart(cluster: Cluster, running: OperatorProcess, env: NodeJS.ProcessEnv): Promise<Line[]> {
  const tenants = (await cluster.tenants.list()).length;
  await running.end('SIGTERM');
  const before = await writes(cluster);
  const started = performance.now();
  const next = await startOperator(cluster, { env, asInImage: true });
  await waitFor('a reconcile of every Tenant', async () => (await reconciles(next)) >= tenants, LIMIT_MS);
  const took = performance.now() - started;
  const written = countOf(difference(before, await writes(cluster)));
  return [
    {
      what: `${tenants} Tenants observed after a restart of the operator`,
      ours: `${(took / 1_000).toFixed(1)} s`,
      control: '',
      target: '< 30 s',
      met: took < 30_000,
    },
    { what: 'writes by that', ours: String(written), control: '', target: '0', met: written === 0 },
  ];
}

async function reconciles(operatorProcess: OperatorProcess): Promise<number> {
  const port = /"opsPort":(\d+)/.exec(operatorProcess.output())?.[1];
  if (port === undefined) return 0;
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(/^controller_runtime_reconcile_total\{([^}]*)\} (\d+)/gm)]
    .filter(([, labels = '']) => labels.includes('controller="tenant"') && !labels.includes('result="error"'))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}
