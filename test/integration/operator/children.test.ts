import { expect, test } from '@jest/globals';
import { GATEWAY, HTTP_ROUTE } from '../../../pkg/kube/gateway-api.ts';
import type { Kind, KubeObject, Observed } from '../../../pkg/kube/object.ts';
import { installGatewayApi, saying } from '../../support/cluster/gateway-api.ts';
import { waitFor } from '../../support/wait.ts';
import { children, condition, conditionOf, ready, secretValues, tenantOf, unique } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace, readyTenant } = operatorSuite();

const { CONFIG_MAP, DEPLOYMENT, INGRESS, NETWORK_POLICY, SECRET, SERVICE, SERVICE_ACCOUNT } = children;
const kinds = [SERVICE_ACCOUNT, CONFIG_MAP, NETWORK_POLICY, DEPLOYMENT, SERVICE, INGRESS] as readonly Kind<KubeObject>[];

/** Returns the object without the fields that the API server counts. */
function content(object: Observed | undefined): unknown {
  if (!object) return undefined;
  const { metadata, status: _status, ...rest } = object as Observed & { status?: unknown };
  const spec = structuredClone((rest as { spec?: Record<string, unknown> }).spec);
  if (spec) for (const name of ['clusterIP', 'clusterIPs']) delete spec[name];
  return {
    ...rest,
    spec,
    labels: metadata.labels,
    annotations: { ...metadata.annotations, 'deployment.kubernetes.io/revision': undefined },
  };
}

test('a Tenant for a Gateway says what is missing in a cluster without the Gateway API, and keeps its Ingress', async () => {
  const key = await readyTenant();
  const { metadata } = await cluster.of(INGRESS).get(key);

  await cluster.tenants.patch(key, { spec: { exposure: { type: 'Gateway', gateway: { name: 'edge' } } } });
  const tenant = await condition(cluster.tenants, key, 'Exposed', 'False', 'GatewayApiMissing');
  await installGatewayApi(cluster); // The last test of this file sees the operator use it.

  expect(conditionOf(tenant, 'Exposed')?.message).toMatch(
    /^the cluster has no HTTPRoute of gateway.networking.k8s.io\/v1: install the Gateway API's CustomResourceDefinitions/,
  );
  expect(conditionOf(tenant, 'Ready')).toMatchObject({ status: 'False', reason: 'GatewayApiMissing' });
  expect((await cluster.of(INGRESS).get(key)).metadata.uid).toBe(metadata.uid);
});

test.each(kinds)('a deleted $kind comes back as it was', async (kind) => {
  const key = await readyTenant();
  const api = cluster.of(kind);
  const before = await api.get(key);

  await api.delete(key);

  const after = await waitFor(`the ${kind.kind}`, async () => (await api.find(key)) ?? undefined);
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(content(after)).toEqual(content(before));
});

test.each<[string, Kind<KubeObject>, object]>([
  ['a port of the Service', SERVICE as Kind<KubeObject>, { spec: { ports: [{ name: 'http', port: 81, targetPort: 'http' }] } }],
  ['a setting of the ConfigMap', CONFIG_MAP as Kind<KubeObject>, { data: { CARREL_LIMIT_USER_PER_MINUTE: '9' } }],
  ['the number of replicas of the Deployment', DEPLOYMENT as Kind<KubeObject>, { spec: { replicas: 7 } }],
  ['a Deployment that somebody has paused', DEPLOYMENT as Kind<KubeObject>, { spec: { paused: true } }],
  [
    'the image of the Deployment',
    DEPLOYMENT as Kind<KubeObject>,
    { spec: { template: { spec: { containers: [{ name: 'server', image: 'elsewhere/carrel:1' }] } } } },
  ],
  [
    'a container that somebody added',
    DEPLOYMENT as Kind<KubeObject>,
    { spec: { template: { spec: { hostNetwork: null, initContainers: [{ name: 'x', image: 'x' }] } } } },
  ],
  [
    'a label that was taken away',
    SERVICE_ACCOUNT as Kind<KubeObject>,
    { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } },
  ],
  ['a way out of the NetworkPolicy', NETWORK_POLICY as Kind<KubeObject>, { spec: { egress: [{}] } }],
  ['a host of the Ingress', INGRESS as Kind<KubeObject>, { spec: { rules: [{ host: 'elsewhere.localhost' }] } }],
])('%s is restored', async (_what, kind, change) => {
  const key = await readyTenant();
  const api = cluster.of(kind);
  const before = content(await api.get(key));

  const changed = await api.patch(key, change);

  expect(content(changed)).not.toEqual(before);
  await waitFor('the repair', async () => JSON.stringify(content(await api.get(key))) === JSON.stringify(before));
});

test('generated Secrets come back with the same values, deleted or edited', async () => {
  const key = await readyTenant();
  for (const suffix of ['database', 'redis', 'storage', 'keys']) {
    const name = `${key.name}-${suffix}`;
    const before = await secretValues(cluster, namespace, name);
    const isBack = async (): Promise<boolean> =>
      JSON.stringify(await secretValues(cluster, namespace, name)) === JSON.stringify(before);

    await cluster.of(SECRET).delete({ namespace, name });
    await waitFor(`${name} after its deletion`, isBack);
    await cluster.of(SECRET).patch({ namespace, name }, { stringData: { url: 'mine', endpoint: 'mine' } });
    await waitFor(`${name} after an edit`, isBack);
  }
});

test('a change of limits, replicas, hosts and image takes effect; kubectl scale is a change of replicas', async () => {
  const key = await readyTenant();
  const deployments = cluster.of(DEPLOYMENT);
  const before = await deployments.get(key);
  const hosts = { app: `${key.name}.example.org`, lti: `lti-${key.name}.example.org` };

  await cluster.tenants.patch(key, { spec: { limits: { requestsPerUserPerMinute: 5 }, hosts, image: 'carrel:next' } });
  const tenant = await ready(cluster.tenants, key);
  const after = await deployments.get(key);
  await cluster.tenants.patch(key, { spec: { replicas: 3 } }, { subresource: 'scale' });
  const scaled = await ready(cluster.tenants, key);

  const annotation = (one: typeof before): string | undefined => one.spec?.template.metadata?.annotations?.['carrel.dev/config'];
  expect(annotation(after)).not.toBe(annotation(before));
  expect((await cluster.of(CONFIG_MAP).get(key)).data?.['CARREL_LIMIT_USER_PER_MINUTE']).toBe('5');
  expect((await cluster.of(INGRESS).get(key)).spec?.rules?.map(({ host }) => host)).toEqual([hosts.app, hosts.lti]);
  expect(tenant.status).toMatchObject({ appUrl: `http://${hosts.app}:8080`, image: 'carrel:next' });
  expect(scaled.status).toMatchObject({ replicas: 3, readyReplicas: 3 });
  const budgets = cluster.of(children.POD_DISRUPTION_BUDGET);
  expect((await budgets.get(key)).spec?.selector).toEqual((await deployments.get(key)).spec?.selector);
  await cluster.tenants.patch(key, { spec: { replicas: 1 } }, { subresource: 'scale' });
  await waitFor('the PodDisruptionBudget of a single pod to go', async () => (await budgets.find(key)) === undefined);
});

test('autoscaling takes over the number of pods, keeps the autoscaler’s value, and says why it does not scale', async () => {
  const key = await readyTenant({ replicas: 3, database: { poolSize: 2 } });
  const deployments = cluster.of(DEPLOYMENT);
  const autoscalers = cluster.of(children.HORIZONTAL_POD_AUTOSCALER);
  const replicas = async () => (await deployments.get(key)).spec?.replicas;

  await cluster.tenants.patch(key, { spec: { replicas: null, autoscaling: { min: 2, max: 5 } } });
  await ready(cluster.tenants, key);
  const handedOver = await replicas();
  await deployments.patch(key, { spec: { replicas: 5 } }, { subresource: 'scale' });
  const conditions = [{ type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric', message: '' }];
  await autoscalers.patchStatus(key, { desiredReplicas: 5, currentReplicas: 5, conditions });
  const says = async () => conditionOf(await cluster.tenants.get(key), 'WorkloadAvailable')?.message;
  const message = '5 of 5 pods are ready; the HorizontalPodAutoscaler does not scale them: FailedGetResourceMetric';
  await waitFor('the condition to say so', async () => (await says()) === message);
  const scaled = await replicas();
  await cluster.tenants.patch(key, { spec: { suspended: true } });
  await waitFor('the autoscaler to go', async () => (await autoscalers.find(key)) === undefined);
  const suspended = await replicas();
  await cluster.tenants.patch(key, { spec: { suspended: false } });
  await ready(cluster.tenants, key);
  const resumed = [await replicas(), (await autoscalers.get(key)).spec?.minReplicas];
  await cluster.tenants.patch(key, { spec: { replicas: 1, autoscaling: null } });
  await ready(cluster.tenants, key);

  expect([handedOver, scaled, suspended, ...resumed, await replicas()]).toEqual([3, 5, 0, 2, 2, 1]);
  await waitFor('the autoscaler to go', async () => (await autoscalers.find(key)) === undefined);
});

test('the pods get what spec.pod says, once: what the API server adds to it is no difference', async () => {
  const pod = {
    labels: { team: 'x' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
        },
      },
      podAntiAffinity: {
        // Other tenants' namespaces are none of its business: the API server drops what is not in the schema.
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', namespaceSelector: {} }],
      },
    },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    imagePullSecrets: [{ name: 'registry' }],
  };
  const key = await readyTenant({ pod });
  const { spec, metadata } = (await cluster.of(DEPLOYMENT).get(key)).spec?.template ?? {};
  const { generation } = (await cluster.of(DEPLOYMENT).get(key)).metadata;
  await cluster.tenants.patch(key, { spec: { deletionPolicy: 'Delete' } });
  await ready(cluster.tenants, key);

  expect(metadata?.labels).toMatchObject({ team: 'x' });
  expect(spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
    { topologyKey: 'zone', labelSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/instance': key.name }) } },
  ]);
  expect(spec).toMatchObject({
    nodeSelector: pod.nodeSelector,
    tolerations: pod.tolerations,
    imagePullSecrets: pod.imagePullSecrets,
  });
  expect((await cluster.of(DEPLOYMENT).get(key)).metadata.generation).toBe(generation);
  await cluster.tenants.patch(key, { spec: { pod: null } });
  await waitFor('them to go', async () => {
    const now = (await cluster.of(DEPLOYMENT).get(key)).spec?.template;
    return !now?.spec?.tolerations && !now?.spec?.affinity && !now?.spec?.nodeSelector && !now?.metadata?.labels?.['team'];
  });
});

test('an unwanted Ingress is deleted, and a certificate enables https', async () => {
  const key = await readyTenant({ exposure: { tls: { secretName: 'cert' } } });
  const { appUrl } = (await cluster.tenants.get(key)).status ?? {};

  await cluster.tenants.patch(key, { spec: { exposure: { type: 'None', tls: null } } });
  await condition(cluster.tenants, key, 'Exposed', 'True', 'NotExposed');

  expect(appUrl).toBe(`https://${key.name}.localhost`);
  await waitFor('the Ingress to go', async () => (await cluster.of(INGRESS).find(key)) === undefined);
});

test("another owner's object with the desired name is not touched", async () => {
  const key = { namespace, name: unique() };
  const theirs = await cluster.of(CONFIG_MAP).create({ metadata: key, data: { mine: 'yes' } });
  await cluster.tenants.create(tenantOf(namespace, key.name));

  const tenant = await condition(cluster.tenants, key, 'WorkloadAvailable', 'False', 'NameConflict');

  expect(conditionOf(tenant, 'Exposed')?.status).toBe('True');
  expect(conditionOf(tenant, 'Stalled')).toMatchObject({ status: 'True', reason: 'NameConflict' });
  expect((await cluster.of(CONFIG_MAP).get(key)).metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
});

test("another owner's PodDisruptionBudget of that name is reported, and the pods are changed all the same", async () => {
  const key = { namespace, name: unique() };
  const selector = { matchLabels: { mine: 'yes' } };
  await cluster.of(children.POD_DISRUPTION_BUDGET).create({ metadata: key, spec: { maxUnavailable: 1, selector } });
  await cluster.tenants.create(tenantOf(namespace, key.name, { replicas: 2 }));

  await condition(cluster.tenants, key, 'WorkloadAvailable', 'False', 'NameConflict');

  expect((await cluster.of(DEPLOYMENT).get(key)).spec?.replicas).toBe(2);
  expect((await cluster.of(children.POD_DISRUPTION_BUDGET).get(key)).spec?.selector).toEqual(selector);
});

test('the condition says what the operator does not allow', async () => {
  const refused = async (spec: object): Promise<string> => {
    const key = { namespace, name: unique() };
    await cluster.tenants.create(tenantOf(namespace, key.name, spec));
    const found = conditionOf(await condition(cluster.tenants, key, 'Accepted', 'False'), 'Accepted');
    return `${found?.reason}: ${found?.message}`;
  };

  expect(await refused({ image: 'evil/carrel:1' })).toBe(
    'ImageNotAllowed: spec.image: this operator accepts only images of carrel',
  );
  expect(await refused({ exposure: { annotations: { 'x/y': '1' } } })).toBe(
    'AnnotationNotAllowed: spec.exposure.annotations: this operator does not accept x/y',
  );
  expect(await refused({ database: { shard: 'moon' } })).toMatch(
    /^ShardUnknown: spec.database.shard: there is no shard moon; there are /,
  );
  expect(await refused({ hosts: { app: 'api.localhost' } })).toBe(
    'HostReserved: api.localhost is the shared API host; take another',
  );
});

test("a Gateway's controller decides on its Tenant's exposure, and a switch removes what the former one made", async () => {
  await installGatewayApi(cluster);
  const key = await readyTenant();
  const [routes, gateways, ingresses] = [cluster.of(HTTP_ROUTE), cluster.of(GATEWAY), cluster.of(INGRESS)];
  const shared = { namespace, name: `${key.name}.api` };
  const made = async () => [await routes.find(key), await routes.find(shared), await ingresses.find(key)].map(Boolean);
  const exposed = async (status: string, reason: string) =>
    conditionOf(await condition(cluster.tenants, key, 'Exposed', status, reason), 'Exposed')?.message;

  await cluster.tenants.patch(key, { spec: { exposure: { type: 'Gateway', gateway: { name: key.name } } } });
  const absent = await exposed('False', 'GatewayMissing');
  const byGateway = await made();
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
  const gateway = await gateways.create({ metadata: key, spec: { gatewayClassName: 'example', listeners } });
  const unheard = await exposed('Unknown', 'WaitingForGateway');
  await gateways.patchStatus(key, { conditions: [saying(gateway, 'Programmed', 'True')] });
  const says = async (name: string, status: 'True' | 'False', reason?: string) => {
    const route = await routes.get({ namespace, name });
    const conditions = [saying(route, 'Accepted', status, reason, reason && 'not here'), saying(route, 'ResolvedRefs', 'True')];
    const parentRef = route.spec?.parentRefs?.[0];
    await routes.patchStatus(
      { namespace, name },
      { parents: [{ parentRef, controllerName: 'example.com/gateway', conditions }] },
    );
  };
  await says(key.name, 'False', 'NotAllowedByListeners');
  const refused = await exposed('False', 'NotAllowedByListeners');
  await says(key.name, 'True');
  const withoutApi = await exposed('True', 'Exposed');
  await says(shared.name, 'True');
  const whole = `HTTPRoute at Gateway ${namespace}/${key.name} for ${key.name}.localhost, lti.${key.name}.localhost`;
  await waitFor('the shared API host', async () => (await exposed('True', 'Exposed')) === whole);
  const { metadata } = await routes.get(key);
  await cluster.tenants.patch(key, { spec: { displayName: 'Again' } });
  await ready(cluster.tenants, key);
  const { resourceVersion } = (await routes.get(key)).metadata;
  await cluster.tenants.patch(key, { spec: { hosts: { app: `${key.name}.example.org` } } });
  await waitFor(
    'the new host',
    async () => (await routes.get(key)).spec?.hostnames?.join() === `${key.name}.example.org,lti.${key.name}.localhost`,
  );
  await routes.delete(key);
  await waitFor('the deleted route', async () => ((await routes.find(key))?.metadata.uid ?? metadata.uid) !== metadata.uid);
  await cluster.tenants.patch(key, { spec: { exposure: { type: 'None', gateway: null } } });
  await ready(cluster.tenants, key);
  const byNone = await made();
  await cluster.tenants.patch(key, { spec: { exposure: { type: 'Ingress' } } });
  await ready(cluster.tenants, key);

  expect([absent, unheard, refused, withoutApi]).toEqual([
    `there is no Gateway ${namespace}/${key.name}`,
    expect.stringContaining('its controller has not accepted HTTPRoute'),
    `Gateway ${namespace}/${key.name}: Accepted is False: not here`,
    expect.stringContaining(`${whole}; not at the shared API host api.localhost: Waiting for Gateway`),
  ]);
  expect(resourceVersion).toBe(metadata.resourceVersion); // what the API server adds to a route is no difference
  expect([byGateway, byNone, await made()]).toEqual([
    [true, true, false],
    [false, false, false],
    [false, false, true],
  ]);
});
