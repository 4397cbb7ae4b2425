import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { CHART, helm, type HelmVersion } from '../../../hack/helm.ts';
import type { Outcome } from '../../../pkg/local/binaries/run.ts';
import type { Json, KubeObject } from '../../../pkg/kube/object.ts';
import type { Deployment } from '../../../pkg/kube/kinds.ts';

/** The least that a person must set. */
export const LEAST = {
  shards: [{ name: 'main', secretName: 'carrel-shard-main' }],
  redis: { address: 'redis.stores:6380' },
  objectStore: { endpoint: 'https://s3.stores:9000' },
};

/** The least with every switch that adds objects. */
export const MOST = {
  ...LEAST,
  fullnameOverride: 'files',
  commonLabels: { team: 'platform' },
  image: { repository: 'registry.example/carrel', digest: `sha256:${'a'.repeat(64)}`, pullSecrets: [{ name: 'registry' }] },
  shards: [...LEAST.shards, { name: 'second', secretName: 'carrel-shard-second' }],
  objectStore: { ...LEAST.objectStore, adminEndpoint: 'https://s3.stores:9001' },
  tenants: {
    namespaces: ['schools', 'faculty'],
    baseDomain: 'example.org',
    allowedHosts: ['example.com', 'faculty=biology.example.edu'],
    apiHost: 'api.example.org',
    routeTimeout: '10m',
    reservedHosts: ['www.example.org'],
    publicScheme: 'http',
    publicPort: 8080,
    imageRepositories: ['registry.example/carrel-next'],
    ingressAnnotations: ['nginx.ingress.kubernetes.io/*'],
    podLabels: ['cost.example/*'],
    podAnnotations: ['backup.example/*'],
    tolerations: ['*'],
    priorityClasses: ['tenants'],
    egressAllow: ['10.20.0.0/16', 'fd00::/8'],
    maxPerShard: 1_000_000,
  },
  trustedCertificates: { configMapName: 'internal-ca', key: 'bundle.pem' },
  operator: pods({ replicas: 3 }),
  worker: {
    ...pods({}),
    autoscaling: { enabled: true, min: 3, max: 12, queueAge: { enabled: true } },
    webhookRetrySeconds: [1, 2.5, 300],
    gradeRetrySeconds: [5],
  },
  backup: {
    ...withoutAccount(pods({})),
    enabled: true,
    repository: 's3://backups/carrel',
    endpoint: 'https://s3.backups:9443',
    keep: 7,
  },
  tracing: { endpoint: 'http://collector.observability:4318', sampler: 'parentbased_traceidratio', samplerArg: '0.1' },
  networkPolicy: {
    collectors: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'observability' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    ingressControllers: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
  },
  monitoring: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, alertLabels: { team: 'platform' }, disabled: ['CarrelRequestsSlow'] },
    dashboards: { enabled: true, annotations: { folder: 'Carrel' } },
  },
  dependencies: {
    postgres: { enabled: true },
    valkey: { enabled: true },
    versitygw: { enabled: true },
    storageClassName: 'fast',
  },
};

/** Returns the values of a program that has neither an account of its own nor several pods. */
function withoutAccount(values: object): object {
  const all = Object.entries(values);
  return Object.fromEntries(all.filter(([name]) => name !== 'serviceAccountAnnotations' && name !== 'topologySpreadConstraints'));
}

function pods<T extends object>(more: T) {
  return {
    serviceAccountAnnotations: { role: 'storage' },
    podLabels: { tier: 'backend' },
    podAnnotations: { note: 'text' },
    priorityClassName: 'high',
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
    ],
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/ca.crt' }],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
    ...more,
  };
}

/** Helm with a folder of its own for what it stores. `kubeconfig`: the cluster on which it acts. */
export async function runHelm(
  args: readonly string[],
  options: { values?: object; kubeconfig?: string; version?: HelmVersion } = {},
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-helm-'));
  const values = join(folder, 'values.json');
  await writeFile(values, JSON.stringify(options.values ?? {}));
  return helm([...args, ...(options.values ? ['--values', values] : [])], {
    folder,
    ...(options.version ? { version: options.version } : {}),
    env: options.kubeconfig === undefined ? {} : { KUBECONFIG: options.kubeconfig },
  });
}

/** Returns the output of `helm template` for the values. Throws with Helm's message. */
export async function renderText(values: object, ...flags: string[]): Promise<string> {
  const { code, stdout, output } = await runHelm(['template', 'carrel', CHART, '--namespace', 'carrel-system', ...flags], {
    values,
  });
  if (code !== 0) throw new Error(output);
  return stdout;
}

export interface ChartObject extends KubeObject {
  kind: string;
  metadata: NonNullable<KubeObject['metadata']> & { name: string };
}

export const objectsIn = (text: string): ChartObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as ChartObject | null)
    .filter((object) => object !== null);

export async function render(values: object): Promise<Rendered> {
  return new Rendered(objectsIn(await renderText(values)));
}

type PodTemplate = NonNullable<NonNullable<Deployment['spec']>['template']>;
type Strategy = NonNullable<NonNullable<Deployment['spec']>['strategy']>;
type Workload = ChartObject & { spec: { replicas?: number; strategy?: Json<Strategy>; template: Json<PodTemplate> } };

/** The objects of a release. */
export class Rendered {
  readonly objects: readonly ChartObject[];

  constructor(objects: readonly ChartObject[]) {
    this.objects = objects;
  }

  /** `<kind>/<name>` of all. */
  get names(): string[] {
    return this.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted();
  }

  all<T extends ChartObject = ChartObject>(kind: string): T[] {
    return this.objects.filter((object) => object.kind === kind) as T[];
  }

  /** Throws when there is none. */
  one(kind: string, name: string): ChartObject {
    const found = this.objects.find((object) => object.kind === kind && object.metadata.name === name);
    if (!found) throw new Error(`no ${kind} ${name} among ${this.names.join(', ')}`);
    return found;
  }

  get workloads(): Workload[] {
    const scheduled = this.all<Workload & { spec: { jobTemplate: Workload } }>('CronJob');
    return [
      ...this.all<Workload>('Deployment'),
      ...this.all<Workload>('StatefulSet'),
      ...scheduled.map((each) => ({ ...each, spec: each.spec.jobTemplate.spec })),
    ];
  }

  deployment(name: string): Workload {
    return this.one('Deployment', name) as Workload;
  }

  /** Throws when there is none. */
  workload(name: string): Workload {
    const found = this.workloads.find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no workload ${name} among ${this.names.join(', ')}`);
    return found;
  }

  /** The variables of a workload's first container; what comes from elsewhere is `from <kind> <name>/<key>`. */
  environment(name: string): Record<string, string> {
    const env = this.workload(name).spec.template.spec?.containers[0]?.env ?? [];
    return Object.fromEntries(
      env.map(({ name: variable, value, valueFrom }) => {
        const { secretKeyRef, fieldRef } = valueFrom ?? {};
        if (secretKeyRef) return [variable, `from Secret ${secretKeyRef.name}/${secretKeyRef.key}`];
        return [variable, fieldRef ? `from ${fieldRef.fieldPath}` : (value ?? '')];
      }),
    );
  }
}
