import { createHash } from 'node:crypto';
import { DEPLOYMENT, type Deployment } from '../../../kube/kinds.ts';
import type { Tenant } from '../../kinds.ts';
import { CONFIG_ANNOTATION, RELEASE_ANNOTATION, identity, labels, podLabels, secretNames } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import { releaseOf } from '../workload/release.ts';
import { MAX_SURGE } from '../workload/replicas.ts';
import type { WorkloadInput } from './child.ts';
import { configMap } from './configmap.ts';
import { podFields } from './pod-fields.ts';

type PodSpec = NonNullable<Deployment['spec']>['template']['spec'];
type Container = NonNullable<PodSpec>['containers'][number];

export const HTTP_PORT = 8080;
export const OPS_PORT = 9090;

/** The time until the endpoints of a Service drop a pod; until then the pod still gets connections. */
const PRE_STOP_SECONDS = 3;
/** More than preStop and the server's own bound (pkg/runtime, SHUTDOWN_LIMIT_MS) together. */
const TERMINATION_GRACE_SECONDS = 35;
const PROGRESS_DEADLINE_SECONDS = 300;
/** Parts of an upload lie here, not whole files. */
const TMP_SIZE = '1Gi';

/**
 * A small nursery: buffers of a stream die young, so a large one only holds garbage (idle −22 MiB, half the growth while 2 GiB
 * pass).
 */
export const NODE_OPTIONS = '--max-semi-space-size=2';

const DEFAULT_RESOURCES = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } };

/** The image that a tenant's pods run. */
export const imageOf = ({ spec }: Tenant, settings: Pick<OperatorSettings, 'image'>): string => spec.image ?? settings.image;

/** The server's Deployment, after the "restricted" pod security standard. */
export function deployment(tenant: Tenant, input: WorkloadInput): Deployment {
  const { name } = tenant.metadata;
  return {
    ...identity(tenant, DEPLOYMENT, name),
    spec: {
      ...(input.replicas === undefined ? {} : { replicas: input.replicas }),
      selector: { matchLabels: podLabels(tenant) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: MAX_SURGE } },
      revisionHistoryLimit: 3,
      progressDeadlineSeconds: PROGRESS_DEADLINE_SECONDS,
      // A paused Deployment never reaches its deadline, and would keep its slot among the rollouts (rollouts.ts).
      paused: false,
      template: {
        metadata: {
          labels: { ...tenant.spec.pod?.labels, ...labels(tenant) },
          annotations: {
            ...tenant.spec.pod?.annotations,
            [CONFIG_ANNOTATION]: configHash(configMap(tenant, input).data, input.checksums),
            [RELEASE_ANNOTATION]: releaseOf(tenant, input.settings),
          },
        },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: TERMINATION_GRACE_SECONDS,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          ...podFields(tenant),
          containers: [server(tenant, imageOf(tenant, input.settings))],
          volumes: [{ name: 'tmp', emptyDir: { sizeLimit: TMP_SIZE } }],
        },
      },
    },
  };
}

/** Hashes everything that a pod reads at its start from ConfigMap and Secrets: a new hash restarts the pods. */
const configHash = (data: Record<string, string> | undefined, checksums: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([Object.entries(data ?? {}), checksums]))
    .digest('hex')
    .slice(0, 32);

const server = (tenant: Tenant, image: string): Container => ({
  name: 'server',
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['node', 'cmd/server/main.js'],
  ports: [
    { name: 'http', containerPort: HTTP_PORT, protocol: 'TCP' },
    { name: 'ops', containerPort: OPS_PORT, protocol: 'TCP' },
  ],
  envFrom: [{ configMapRef: { name: tenant.metadata.name } }],
  env: [
    { name: 'CARREL_PORT', value: String(HTTP_PORT) },
    { name: 'CARREL_OPS_PORT', value: String(OPS_PORT) },
    { name: 'NODE_OPTIONS', value: NODE_OPTIONS },
    ...secretEnv(tenant),
  ],
  resources: resources(tenant),
  readinessProbe: { httpGet: { path: '/readyz', port: 'ops' }, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 3 },
  livenessProbe: {
    httpGet: { path: '/healthz', port: 'ops' },
    initialDelaySeconds: 10,
    periodSeconds: 10,
    timeoutSeconds: 5,
    failureThreshold: 3,
  },
  lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
});

interface SecretEntry {
  name: string;
  valueFrom: { secretKeyRef: { name: string; key: string; optional?: boolean } };
}

function secretEnv(tenant: Tenant): SecretEntry[] {
  const secrets = secretNames(tenant);
  const entry = (variable: string, name: string, key: string): SecretEntry => ({
    name: variable,
    valueFrom: { secretKeyRef: { name, key } },
  });
  const optional = ({ name, valueFrom }: SecretEntry): SecretEntry => ({
    name,
    valueFrom: { secretKeyRef: { ...valueFrom.secretKeyRef, optional: true } },
  });
  return [
    entry('CARREL_DATABASE_URL', secrets.database, 'url'),
    optional(entry('CARREL_DATABASE_NEXT_PASSWORD', secrets.database, 'nextPassword')),
    entry('CARREL_REDIS_URL', secrets.redis, 'url'),
    entry('CARREL_S3_ENDPOINT', secrets.storage, 'endpoint'),
    entry('CARREL_S3_REGION', secrets.storage, 'region'),
    entry('CARREL_S3_BUCKET', secrets.storage, 'bucket'),
    entry('CARREL_S3_PREFIX', secrets.storage, 'prefix'),
    entry('CARREL_S3_GUARDED', secrets.storage, 'guarded'),
    entry('CARREL_S3_ACCESS_KEY_ID', secrets.storage, 'accessKeyId'),
    entry('CARREL_S3_SECRET_ACCESS_KEY', secrets.storage, 'secretAccessKey'),
    entry('CARREL_SIGNING_KEYS', secrets.keys, 'signing.json'),
    entry('CARREL_DATA_KEYS', secrets.keys, 'data.json'),
  ];
}

/** Returns the resources as text. A value of the Tenant replaces the default as a whole. */
function resources(tenant: Tenant): { requests?: Record<string, string>; limits?: Record<string, string> } {
  const given = tenant.spec.resources;
  if (!given) return DEFAULT_RESOURCES;
  const texts = (values: Record<string, number | string>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
  return {
    ...(given.requests ? { requests: texts(given.requests) } : {}),
    ...(given.limits ? { limits: texts(given.limits) } : {}),
  };
}
