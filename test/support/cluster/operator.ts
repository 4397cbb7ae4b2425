import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import {
  CONFIG_MAP,
  CUSTOM_RESOURCE_DEFINITION,
  DEPLOYMENT,
  EVENT,
  HORIZONTAL_POD_AUTOSCALER,
  INGRESS,
  NAMESPACE,
  NETWORK_POLICY,
  POD_DISRUPTION_BUDGET,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  type CustomResourceDefinition,
} from '../../../pkg/kube/kinds.ts';
import { informer, type Informer } from '../../../pkg/kube/informer.ts';
import { keyOf, type Kind, type KubeObject, type Observed } from '../../../pkg/kube/object.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import { findCondition, type Condition } from '../../../pkg/kube/status.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import {
  LTI_REGISTRATION,
  TENANT,
  WEBHOOK,
  type LtiRegistration,
  type Tenant,
  type Webhook,
} from '../../../pkg/operator/kinds.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { createMetrics } from '../../../pkg/runtime/metrics.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { documentsOf, installAccess } from './access.ts';
import { type ApiAccess, sharedApiServer, sharedOperatorLog, startApiServer } from './apiserver.ts';
import { noteOnFailure } from '../../../hack/jest/failure-notes.ts';
import { programEnvironment, ROOT, testBackends } from '../backends/backends.ts';
import { builtCommand, podEnvironment } from './operator-in-image.ts';
import type { SharedName } from './shared-cluster-access.ts';
import { waitFor } from '../wait.ts';

export type Stores = ReturnType<typeof testBackends>['stores'];

/** An API server with the custom resources, and everything one asks of it. Deployments become available when `playPods` runs. */
export interface Cluster {
  readonly api: ApiAccess;
  readonly client: KubeClient;
  /** Has the rights of config/rbac and no more. */
  readonly operatorConfig: KubeConfig;
  readonly tenants: ResourceApi<Tenant>;
  readonly registrations: ResourceApi<LtiRegistration>;
  readonly webhooks: ResourceApi<Webhook>;
  of<T extends KubeObject>(kind: Kind<T>): ResourceApi<T>;
  /** Runs before the API server ends, the newest first. */
  onClose(end: () => Promise<unknown>): void;
  /** Ends everything that was started on it; a shared API server goes on. */
  close(): Promise<void>;
}

export const children = {
  CONFIG_MAP,
  DEPLOYMENT,
  EVENT,
  HORIZONTAL_POD_AUTOSCALER,
  INGRESS,
  NAMESPACE,
  NETWORK_POLICY,
  POD_DISRUPTION_BUDGET,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
};

/** An API server of the caller's own, with the custom resources and the operator's rights. */
export async function startCluster(): Promise<Cluster> {
  const api = await startApiServer();
  const cluster = connect(api);
  cluster.onClose(() => api.close());
  cluster.onClose(() => cluster.client.close());
  try {
    await installResources(cluster.of(CUSTOM_RESOURCE_DEFINITION));
    await cluster.of(NAMESPACE).create({ metadata: { name: 'carrel-system' } });
    const operatorConfig = await operatorAccess(api, cluster.client);
    return { ...cluster, operatorConfig };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** Returns a cluster that test files share. */
export async function sharedCluster(name: SharedName): Promise<Cluster> {
  const { operator, ...api } = await sharedApiServer(name);
  const cluster = connect(api);
  cluster.onClose(() => cluster.client.close());
  const endNotes = noteOnFailure(async () => {
    const log = await sharedOperatorLog(name);
    return log && `The operator's log ends with:\n${log}`;
  });
  cluster.onClose(async () => endNotes());
  return { ...cluster, operatorConfig: operator };
}

function connect(api: ApiAccess): Omit<Cluster, 'operatorConfig'> {
  const client = new KubeClient({ kubeConfig: api.kubeConfig, metrics: createMetrics('test') });
  const of = <T extends KubeObject>(kind: Kind<T>): ResourceApi<T> => new ResourceApi(client, kind);
  const ends: (() => Promise<unknown>)[] = [];
  return {
    api,
    client,
    of,
    tenants: of(TENANT),
    registrations: of(LTI_REGISTRATION),
    webhooks: of(WEBHOOK),
    onClose: (end) => void ends.push(end),
    close: async () => {
      for (const end of ends.toReversed()) await end();
    },
  };
}

async function installResources(definitions: ResourceApi<CustomResourceDefinition>): Promise<void> {
  const files = readdirSync(join(ROOT, 'crds')).filter((file) => file.endsWith('.yaml'));
  for (const file of files)
    await definitions.create(parse(readFileSync(join(ROOT, 'crds', file), 'utf8')) as CustomResourceDefinition);
  await waitFor('the custom resources', async () =>
    (await definitions.list()).every((definition) =>
      definition.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'),
    ),
  );
}

/** Installs config/rbac as a person does. Returns the access of the operator's ServiceAccount. */
const operatorAccess = (api: ApiAccess, client: KubeClient): Promise<KubeConfig> =>
  installAccess(api, client, documentsOf('config/rbac'));

/** A name that nobody else uses: slugs and hosts are the whole run's. */
export const unique = (prefix = 't'): string => `${prefix}-${random.hex(4)}`;

export async function newNamespace(cluster: Cluster): Promise<string> {
  const name = unique('ns');
  await cluster.of(NAMESPACE).create({ metadata: { name } });
  return name;
}

/** Returns a Tenant as a person writes it. The API server adds the schema's defaults. */
export const tenantOf = (namespace: string, name: string, spec: object = {}): Tenant =>
  ({ metadata: { name, namespace }, spec }) as unknown as Tenant;
export const webhookOf = (namespace: string, name: string, spec: object): Webhook =>
  ({ metadata: { name, namespace }, spec }) as unknown as Webhook;
export const registrationOf = (namespace: string, name: string, spec: object): LtiRegistration =>
  ({ metadata: { name, namespace }, spec }) as unknown as LtiRegistration;

type WithConditions = KubeObject & { status?: { conditions?: Condition[] } };

export const conditionOf = (object: KubeObject | undefined, type: string): Condition | undefined =>
  findCondition((object as WithConditions | undefined)?.status?.conditions, type);

/**
 * Waits for a condition with this status, and reason where given, that speaks of the present generation. By a watch: many GETs
 * would take the API server's time.
 */
export function condition<T extends KubeObject>(
  api: ResourceApi<T>,
  key: { namespace: string; name: string },
  type: string,
  status: string,
  reason?: string,
): Promise<Observed<T>> {
  const isMet = (object: Observed<T>): boolean => {
    const found = conditionOf(object, type);
    return (
      found?.status === status &&
      (reason === undefined || found.reason === reason) &&
      found.observedGeneration === object.metadata.generation
    );
  };
  return waitFor(`${api.kind.kind} ${key.name}: ${type}=${status} ${reason ?? ''}`, async () => {
    let last = await api.get(key);
    if (isMet(last)) return last;
    const { resourceVersion } = last.metadata;
    const selection = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}`, resourceVersion };
    for await (const event of api.watch({ ...selection, timeoutSeconds: WATCH_SECONDS, idleMs: 2 * WATCH_SECONDS * 1_000 })) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') break; // what is made again under its name is waited for
      last = event.object;
      if (isMet(last)) return last;
    }
    throw new Error(inWords(last));
  });
}

/** The conditions of an object on one line. */
function inWords(object: WithConditions): string {
  const words = object.status?.conditions?.map(({ type, status, reason, message }) =>
    status === 'True' ? `${type}=True` : `${type}=${status} ${reason} (${message})`,
  );
  return words?.join(', ') ?? 'it has no conditions';
}

/** After this a wait looks at its limit. */
const WATCH_SECONDS = 10;

export const ready = <T extends KubeObject>(
  api: ResourceApi<T>,
  key: { namespace: string; name: string },
): Promise<Observed<T>> => condition(api, key, 'Ready', 'True');

/** A copy of the objects of a kind, kept by a watch of its own until `stop`. */
export function follow<T extends KubeObject>(
  cluster: Cluster,
  kind: Kind<T>,
  namespace?: string,
): Informer<T> & { stop(): Promise<void> } {
  const stopping = new AbortController();
  const followed = informer<T>({
    client: cluster.client,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    clock,
    random,
    log: silentLogger,
    metrics: createMetrics('watch'),
  });
  const running = followed.run(stopping.signal);
  return {
    ...followed,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Plays deployment controller and kubelet until the cluster is closed: every Deployment is available as soon as it is seen. */
export function playPods(cluster: Cluster): void {
  const deployments = follow(cluster, DEPLOYMENT);
  deployments.store.onChange(({ type, object }) => {
    const { generation, resourceVersion } = object.metadata;
    if (type === 'deleted' || object.status?.observedGeneration === generation) return;
    const replicas = object.spec?.replicas ?? 1;
    const status = {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      conditions: [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' }],
    };
    // Patches this version alone: sent late, it would overwrite the status of a later generation, which no controller does. The
    // later one comes here too.
    const patch = { metadata: { resourceVersion }, status };
    void deployments.api.patch(keyOf(object), patch, { subresource: 'status' }).catch(() => undefined);
  });
  cluster.onClose(() => deployments.stop());
}

export interface OperatorProcess {
  readonly pid: number;
  readonly output: () => string;
  /** Its exit code, once it is gone; null where a signal ended it. */
  readonly gone: Promise<number | null>;
  /** Resolves when it is gone. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** The settings of an operator. */
export const operatorEnvironment = ({ shardsDir, platformKeys, redis, s3 }: Stores): NodeJS.ProcessEnv => ({
  CARREL_SHARDS_DIR: shardsDir,
  CARREL_PLATFORM_KEYS: platformKeys,
  CARREL_REDIS_ADMIN_URL: redis.adminUrl,
  CARREL_REDIS_ADDRESS: redis.address,
  CARREL_S3_ENDPOINT: s3.endpoint,
  CARREL_S3_ADMIN_ENDPOINT: s3.adminEndpoint,
  CARREL_S3_REGION: s3.region,
  CARREL_S3_ACCESS_KEY_ID: s3.accessKeyId,
  CARREL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  CARREL_BASE_DOMAIN: 'localhost',
  CARREL_ALLOWED_HOSTS: 'example.org',
  CARREL_RESERVED_HOSTS: 'lms.localhost',
  CARREL_PUBLIC_SCHEME: 'http',
  CARREL_PUBLIC_PORT: '8080',
  CARREL_IMAGE: 'carrel:dev',
  CARREL_INGRESS_ANNOTATIONS: 'nginx.ingress.kubernetes.io/*',
  CARREL_TENANT_NETWORK: '{}',
  CARREL_POD_LABELS: 'team',
  CARREL_TOLERATIONS: 'dedicated',
  CARREL_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
  CARREL_LISTEN_HOST: '127.0.0.1',
  CARREL_OPS_PORT: '0',
});

/**
 * The operator as a process of its own, with all settings in its environment. `asInImage`: as image and chart run it, built (`npm
 * run build` before), with the same arguments and the access of a pod's ServiceAccount.
 */
export async function startOperator(
  cluster: Cluster,
  more: { env?: NodeJS.ProcessEnv; stores?: Stores; asInImage?: boolean } = {},
): Promise<OperatorProcess> {
  const { scratch, stores: shared } = testBackends();
  const folder = await mkdtemp(join(scratch, 'operator-'));
  const command = more.asInImage ? builtCommand() : ['cmd/operator/main.ts'];
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: {
      ...programEnvironment(),
      ...(await (more.asInImage ? podEnvironment : kubeconfigIn)(folder, cluster.operatorConfig)),
      ...operatorEnvironment(more.stores ?? shared),
      ...more.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    const code = await gone;
    await rm(folder, { recursive: true, force: true });
    return code;
  };
  cluster.onClose(end);
  return { pid: child.pid ?? 0, output, gone, end };
}

async function kubeconfigIn(folder: string, access: KubeConfig): Promise<NodeJS.ProcessEnv> {
  const KUBECONFIG = join(folder, 'kubeconfig');
  await writeFile(KUBECONFIG, access.exportConfig());
  return { KUBECONFIG };
}

function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  return () => text;
}

/** The decoded values of a Secret; undefined when it is not there. */
export async function secretValues(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<Record<string, string> | undefined> {
  const secret = await cluster.of(SECRET).find({ namespace, name });
  return (
    secret &&
    Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    )
  );
}
