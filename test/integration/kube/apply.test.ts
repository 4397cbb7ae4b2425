import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeConfig } from '@kubernetes/client-node';
import { Registry } from 'prom-client';
import { Applier, NameConflictError } from '../../../pkg/kube/apply.ts';
import {
  CONFIG_MAP,
  DEPLOYMENT,
  INGRESS,
  NAMESPACE,
  NETWORK_POLICY,
  SERVICE,
  SERVICE_ACCOUNT,
  type Deployment,
  type Service,
} from '../../../pkg/kube/kinds.ts';
import type { Kind, KubeObject, ObjectKey, Observed, OwnerReference } from '../../../pkg/kube/object.ts';
import { ownerReference } from '../../../pkg/kube/owner.ts';
import { type JsonPatchOperation, ResourceApi } from '../../../pkg/kube/resource.ts';
import { KubeClient } from '../../../pkg/kube/transport.ts';
import { sharedApiServer } from '../../support/cluster/apiserver.ts';

let kubeConfig: KubeConfig;
let client: KubeClient;
let metrics: Registry;
let applier: Applier;
let owner: OwnerReference;
let namespace = '';
let serial = 0;

beforeAll(async () => {
  ({ kubeConfig } = await sharedApiServer('idle'));
  metrics = new Registry();
  client = new KubeClient({ kubeConfig, metrics });
});
afterAll(() => client?.close());
beforeEach(async () => {
  namespace = `apply-${serial++}`;
  applier = new Applier({ client, fieldManager: 'test-operator', annotationPrefix: 'example.com' });
  const created = await new ResourceApi(client, NAMESPACE).create({ metadata: { name: namespace } });
  owner = ownerReference(created, NAMESPACE);
});

const key = (name: string): ObjectKey => ({ namespace, name });

const deployment = (change: (spec: NonNullable<Deployment['spec']>) => void = () => undefined): Deployment => {
  const spec: NonNullable<Deployment['spec']> = {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'server',
            image: 'example:1',
            args: ['run', '--now'],
            env: [
              { name: 'A', value: '1' },
              { name: 'EMPTY', value: '' },
              { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              { name: 'KEY', valueFrom: { secretKeyRef: { name: 'web', key: 'url' } } },
            ],
            ports: [{ name: 'http', containerPort: 8080 }],
            resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { memory: '1073741824' } },
            readinessProbe: { httpGet: { path: '/readyz', port: 8080 }, initialDelaySeconds: 0 },
            securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
            volumeMounts: [{ name: 'tmp', mountPath: '/tmp', readOnly: false }],
          },
        ],
        volumes: [
          { name: 'tmp', emptyDir: { sizeLimit: '1024Mi' } },
          { name: 'config', configMap: { name: 'web' } },
        ],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
      },
    },
  };
  change(spec);
  return { metadata: { namespace, name: 'web', labels: { app: 'web' } }, spec };
};

/** Writes that the API server has seen from us. */
async function writes(): Promise<number> {
  const { values } = await metrics.getSingleMetric('rest_client_requests_total')!.get();
  return values.filter(({ labels }) => labels['method'] !== 'GET').reduce((sum, { value }) => sum + value, 0);
}

async function expectUnchanged<T extends KubeObject>(kind: Kind<T>, desired: T): Promise<void> {
  const before = await writes();
  expect((await applier.apply(kind, desired, { owner })).outcome).toBe('unchanged');
  expect(await writes()).toBe(before);
}

const edit = (path: string, value: unknown, op: JsonPatchOperation['op'] = 'add'): Promise<Observed<Deployment>> =>
  new ResourceApi(client, DEPLOYMENT).patch(key('web'), [{ op, path, value }], { fieldManager: 'kubectl-edit' });

const template = '/spec/template/spec';

describe('the applier', () => {
  test('creates an object, owned and marked, and then writes nothing, not even after a restart', async () => {
    const first = await applier.apply(DEPLOYMENT, deployment(), { owner });

    expect(first.outcome).toBe('created');
    expect(first.object.metadata.ownerReferences).toEqual([owner]);
    expect(first.object.metadata.annotations?.['example.com/applied']).toMatch(/^[0-9a-f]{32}$/);
    await expectUnchanged(DEPLOYMENT, deployment());
    applier = new Applier({ client, fieldManager: 'test-operator', annotationPrefix: 'example.com' });
    await expectUnchanged(DEPLOYMENT, deployment());
  });

  test('finds nothing to write for the other kinds either, with what the server adds to them', async () => {
    const meta = { namespace, name: 'web' };
    const backend = { service: { name: 'web', port: { name: 'http' } } };
    const objects: [Kind, KubeObject][] = [
      [
        SERVICE,
        {
          metadata: meta,
          spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
        } as KubeObject,
      ],
      [SERVICE_ACCOUNT, { metadata: meta, automountServiceAccountToken: false } as KubeObject],
      [CONFIG_MAP, { metadata: meta, data: { a: '1', empty: '' } } as KubeObject],
      [
        INGRESS,
        {
          metadata: meta,
          spec: { rules: [{ host: 'a.example', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
        } as KubeObject,
      ],
      [
        NETWORK_POLICY,
        {
          metadata: meta,
          spec: {
            podSelector: { matchLabels: { app: 'web' } },
            policyTypes: ['Ingress', 'Egress'],
            ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ port: 8080 }] }],
            egress: [{}],
          },
        } as KubeObject,
      ],
    ];
    for (const [kind, object] of objects) {
      expect((await applier.apply(kind, object, { owner })).outcome).toBe('created');
      await expectUnchanged(kind, object);
    }
  });

  test.each([
    ['a value', `${template}/containers/0/env/0/value`, '2'],
    ['an image', `${template}/containers/0/image`, 'other:1'],
    ['replicas', '/spec/replicas', 7],
    ['a label', '/metadata/labels/app', 'other'],
    ['an argument that was added', `${template}/containers/0/args/-`, '--evil'],
    ['a quantity', `${template}/containers/0/resources/limits/memory`, '2Gi'],
    ['a container that was added', `${template}/containers/-`, { name: 'miner', image: 'evil:1' }],
    ['a variable that was added', `${template}/containers/0/env/-`, { name: 'NODE_OPTIONS', value: '--inspect' }],
    ['an envFrom that was added', `${template}/containers/0/envFrom`, [{ secretRef: { name: 'other' } }]],
    ['a volume that was added', `${template}/volumes/-`, { name: 'host', hostPath: { path: '/' } }],
    ['an init container that was added', `${template}/initContainers`, [{ name: 'init', image: 'evil:1' }]],
    ['a mount that was added', `${template}/containers/0/volumeMounts/0`, { name: 'config', mountPath: '/etc/other' }],
    ['a port that was added', `${template}/containers/0/ports/-`, { containerPort: 22 }],
    ['the mark', '/metadata/annotations/example.com~1applied', 'x'],
  ])('restores %s', async (_what, path, value) => {
    const { object: before } = await applier.apply(DEPLOYMENT, deployment(), { owner });
    await edit(path, value, /\/(-|envFrom|initContainers|volumeMounts\/0)$/.test(path) ? 'add' : 'replace');

    const { outcome, object } = await applier.apply(DEPLOYMENT, deployment(), { owner });

    expect(outcome).toBe('updated');
    expect(object.spec).toEqual(before.spec);
    expect(object.metadata.labels).toEqual(before.metadata.labels);
    await expectUnchanged(DEPLOYMENT, deployment());
  });

  test('restores a removed field if its absence would mean something else', async () => {
    const { object: before } = await applier.apply(DEPLOYMENT, deployment(), { owner });
    await edit(`${template}/automountServiceAccountToken`, undefined, 'remove');
    await edit(`${template}/containers/0/securityContext/allowPrivilegeEscalation`, undefined, 'remove');
    await edit(`${template}/containers/0/env/3`, undefined, 'remove');

    const { object } = await applier.apply(DEPLOYMENT, deployment(), { owner });

    expect(object.spec).toEqual(before.spec);
  });

  test('leaves what others added elsewhere', async () => {
    await applier.apply(DEPLOYMENT, deployment(), { owner });
    await edit('/spec/template/metadata/annotations', { 'kubectl.kubernetes.io/restartedAt': 'now' });
    await edit('/metadata/labels/team', 'blue');

    await expectUnchanged(DEPLOYMENT, deployment());
    await applier.apply(
      DEPLOYMENT,
      deployment((spec) => (spec.replicas = 3)),
      { owner },
    );

    const live = await new ResourceApi(client, DEPLOYMENT).get(key('web'));
    expect(live.spec?.template.metadata?.annotations).toEqual({ 'kubectl.kubernetes.io/restartedAt': 'now' });
    expect(live.metadata.labels).toEqual({ app: 'web', team: 'blue' });
  });

  test('removes what is no longer desired, from the first change on', async () => {
    await applier.apply(CONFIG_MAP, { metadata: { namespace, name: 'c' }, data: { a: '1', b: '2' } }, { owner });

    const { object } = await applier.apply(CONFIG_MAP, { metadata: { namespace, name: 'c' }, data: { b: '2' } }, { owner });

    expect(object.data).toEqual({ b: '2' });
    expect(object.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      ['test-operator', 'Apply'],
    ]);
  });

  test('releases a field that it no longer sets and leaves its live value', async () => {
    await applier.apply(DEPLOYMENT, deployment(), { owner });
    const api = new ResourceApi(client, DEPLOYMENT);
    await applier.apply(
      DEPLOYMENT,
      deployment((spec) => (spec.replicas = 5)),
      { owner },
    );
    const scaled = deployment((spec) => delete spec.replicas);

    const { object } = await applier.apply(DEPLOYMENT, scaled, { owner, leave: [['spec', 'replicas']] });

    expect(object.spec?.replicas).toBe(5);
    await api.patch(key('web'), { spec: { replicas: 9 } }, { fieldManager: 'autoscaler', subresource: 'scale' });
    await expectUnchanged(DEPLOYMENT, scaled);
    expect((await api.get(key('web'))).spec?.replicas).toBe(9);
  });

  test('never touches an object of the name that is not its own, seen or unseen', async () => {
    const api = new ResourceApi(client, CONFIG_MAP);
    const foreign = await api.create({ metadata: { namespace, name: 'c' }, data: { a: 'theirs' } });
    const apply = (): Promise<unknown> =>
      applier.apply(CONFIG_MAP, { metadata: { namespace, name: 'c' }, data: { b: 'ours' } }, { owner });

    await expect(apply()).rejects.toThrow(NameConflictError);
    await expect(apply()).rejects.toThrow(`ConfigMap ${namespace}/c exists and was not made by this owner; delete or rename it`);

    expect(await api.get(key('c'))).toEqual(foreign);
  });

  test('an object that is replaced by a stranger between the look and the write is not touched', async () => {
    const desired = { metadata: { namespace, name: 'c' }, data: { b: 'ours' } };
    const { object } = await applier.apply(CONFIG_MAP, desired, { owner });
    const api = new ResourceApi(client, CONFIG_MAP);
    await api.delete(key('c'));
    await api.create({ metadata: { namespace, name: 'c' }, data: { a: 'theirs' } });
    const stale = { ...desired, metadata: { ...desired.metadata, uid: object.metadata.uid } };

    await expect(api.apply(stale, { fieldManager: 'test-operator', force: true })).rejects.toMatchObject({ status: 422 });
    await expect(applier.apply(CONFIG_MAP, desired, { owner })).rejects.toThrow(NameConflictError);

    expect((await api.get(key('c'))).data).toEqual({ a: 'theirs' });
  });

  test('drift that applying does not repair is not tried again until something changes', async () => {
    // The server drops the zero, so that it stays different.
    const service = (text: string): Service => ({
      metadata: { namespace, name: 'web', labels: { text } },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, nodePort: 0 }] },
    });
    await applier.apply(SERVICE, service('a'), { owner });

    await expectUnchanged(SERVICE, service('a'));
    expect((await applier.apply(SERVICE, service('b'), { owner })).outcome).toBe('updated');
    await expectUnchanged(SERVICE, service('b'));
  });

  test('an object that is being deleted is left to go, and made again when it is gone', async () => {
    const api = new ResourceApi(client, CONFIG_MAP);
    const desired = { metadata: { namespace, name: 'c', finalizers: ['example.com/wait'] }, data: { a: '1' } };
    await applier.apply(CONFIG_MAP, desired, { owner });
    await api.delete(key('c'));

    await expectUnchanged(CONFIG_MAP, { ...desired, data: { a: '2' } });
    await api.patch(key('c'), { metadata: { finalizers: null } });

    expect((await applier.apply(CONFIG_MAP, desired, { owner })).outcome).toBe('created');
  });

  test('racing appliers end with one object and no error', async () => {
    const desired = { metadata: { namespace, name: 'c' }, data: { b: 'ours' } };

    const outcomes = await Promise.all(Array.from({ length: 8 }, () => applier.apply(CONFIG_MAP, desired, { owner })));

    expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(new Set(outcomes.map(({ object }) => object.metadata.uid)).size).toBe(1);
  });
});
