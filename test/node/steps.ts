import assert from 'node:assert/strict';
import { join } from 'node:path';
import { NETWORK } from '../../hack/node/layout.ts';
import { commandOf } from '../../hack/node/node.ts';
import { signal } from '../../pkg/local/processes.ts';
import { Api, sendRaw } from '../support/clients/api.ts';
import { signIn, type TenantObject, tenantObject, waitReady } from '../support/programs/demo-tenant.ts';
import { ROOT } from '../support/backends/backends.ts';
import { apply, getJson, kubectl, kubectlOk, secretValues } from '../support/programs/platform.ts';
import { verifiesStandard } from '../../pkg/local/demo/standard-webhooks.ts';
import { waitFor } from '../support/wait.ts';
import { rightsAreUsed } from './audit.ts';
import { comesBackFromBackup } from './backups.ts';
import { connectionsAreExpected } from './connections.ts';
import { worksFromOutside } from '../cluster/outside.ts';
import { type Installation, NAMESPACE } from './installation.ts';
import { lmsRegistersItself } from './registration.ts';
import { operatorIsTakenOver } from './takeover.ts';
import { launchesAndGrades } from './launch.ts';
import { startLoad } from './load.ts';
import { movesUnderLoad } from './move.ts';
import { podNames, serviceAddress, SPACE, TENANT } from './biology.ts';
import { credentialsRotate, drainsUnderLoad, upgradesUnderLoad } from './under-load.ts';
import { deliveries, RECEIVER_URL } from './receiver.ts';

export interface Step {
  /** A sentence about what holds afterwards. */
  readonly title: string;
  readonly run: (installation: Installation) => Promise<void>;
}

const FILE_BYTES = 3 << 20;
const FIRST_TENANT_LIMIT_MS = 400_000;
const UNLIMITED = {
  requestsPerUserPerMinute: 1_000_000,
  requestsPerTenantPerMinute: 1_000_000,
  requestsPerIpPerHour: 100_000_000,
};

/** In this order; each builds on those before. */
export const STEPS: readonly Step[] = [
  { title: 'the images are made from this checkout, and containerd takes them', run: (carrel) => carrel.loadImages() },
  {
    title:
      'the lines of docs/operate/install.md install the chart with its stores, and all pods become ready under ' +
      'restricted pod security',
    run: async (carrel) => {
      await carrel.install();
      await carrel.rolledOut();
    },
  },
  {
    title: 'the next lines of docs/operate/install.md make a first Tenant that answers, and remove it with its data',
    run: async (carrel) => assert.match(await carrel.runLines('first', FIRST_TENANT_LIMIT_MS), /"openapi": ?"3\.1/),
  },
  {
    title: 'helm upgrade changes address, egress and the trusted authorities',
    run: async (carrel) => {
      const port = await carrel.startIngressController();
      const trustedCertificates = await carrel.startReceiver();
      await carrel.upgrade({
        tenants: { publicScheme: 'http', publicPort: port, egressAllow: [NETWORK.pods, NETWORK.services] },
        trustedCertificates,
      });
      await carrel.rolledOut();
    },
  },
  { title: 'a Tenant and its Webhook become Ready in a namespace with restricted pod security', run: tenantBecomesReady },
  { title: 'a pod that is not restricted is refused there', run: unrestrictedPodIsRefused },
  { title: 'its administrator signs in, uploads, lists and downloads a file by the Ingress', run: filesGoBothWays },
  { title: 'the upload reaches the receiver as a signed webhook', run: webhookArrives },
  {
    title:
      'a launch and a grade of an LMS with an internal certificate arrive; with one of another authority both are ' +
      'refused and say why',
    run: launchesAndGrades,
  },
  {
    title: 'the LMS registers itself by a one-time link: the operator makes its LtiRegistration, and it launches',
    run: lmsRegistersItself,
  },
  {
    title: 'helm upgrade to another image changes operator, worker and tenant under load, and no request fails',
    run: upgradesUnderLoad,
  },
  { title: 'a drain of the node takes one pod of the tenant at a time, and no request fails', run: drainsUnderLoad },
  {
    title: 'passwords and keys of the tenant are rotated under load, the former ones end, and no request fails',
    run: credentialsRotate,
  },
  {
    title: 'an autoscaler takes the pods over and brings them to its new minimum, and says that it has no metrics',
    run: autoscalerScales,
  },
  {
    title: 'the Gateway API is installed: an HTTPRoute takes the place of the Ingress and back, and the missing Gateway is named',
    run: gatewayIsMissing,
  },
  { title: 'the leading operator is killed, its successor is stopped: another one leads', run: operatorIsTakenOver },
  {
    title: 'what make e2e-kind does passes here: a Tenant by kubectl alone, a file both ways, and nothing is left',
    run: ({ platform }) => worksFromOutside(platform),
  },
  { title: 'carrel doctor in the operator’s pod finds nothing wrong', run: doctorFindsNothing },
  { title: 'the kubelet is killed: the tenant goes on serving, and its pods are found again', run: kubeletIsKilled },
  { title: 'all containers are killed at once: all start again, files and webhooks too', run: containersAreKilled },
  {
    title: 'the node restarts: every program and sandbox ends at once, all come back, files and webhooks too',
    run: nodeRestarts,
  },
  {
    title: 'a tenant whose new pods take more memory than their limit goes on with the former ones, and no request fails',
    run: outOfMemory,
  },
  {
    title: 'in the place of a suspended tenant the operator answers by its Service, and the tenant comes back',
    run: tenantIsSuspended,
  },
  {
    title: 'the chart’s CronJob backs the tenant up, and a restore brings a file back that was deleted for good',
    run: comesBackFromBackup,
  },
  {
    title:
      'the tenant moves to another Postgres server under load: requests get 503 for some seconds, and all that was ' +
      'acknowledged is there',
    run: movesUnderLoad,
  },
  {
    title: 'operator, worker and server connected to what they need and to nothing else, and their NetworkPolicies allow it',
    run: (carrel) =>
      connectionsAreExpected(carrel, {
        operator: [NAMESPACE, 'carrel-operator'],
        worker: [NAMESPACE, 'carrel-worker'],
        server: [SPACE, TENANT],
      }),
  },
  { title: 'a deleted Tenant takes its pods with it', run: tenantIsDeleted },
  {
    title: 'the API server refused the operator nothing, and the operator used the rights that its roles have',
    run: rightsAreUsed,
  },
];

async function tenantBecomesReady({ platform }: Installation): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply(
    platform,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SPACE, labels } },
    tenantObject(SPACE, TENANT, { displayName: 'Biology', replicas: 2, limits: UNLIMITED }),
    {
      apiVersion: 'carrel.dev/v1alpha1',
      kind: 'LtiRegistration',
      metadata: { name: 'moodle', namespace: SPACE },
      spec: {
        tenantRef: { name: TENANT },
        clientId: 'client-1',
        platform: { preset: 'moodle', issuer: 'https://moodle.example.edu' },
        deploymentIds: ['1'],
      },
    },
    {
      apiVersion: 'carrel.dev/v1alpha1',
      kind: 'Webhook',
      metadata: { name: 'archive', namespace: SPACE },
      spec: { tenantRef: { name: TENANT }, url: RECEIVER_URL, events: ['file.created'] },
    },
  );
  for (const resource of [`tenant/${TENANT}`, 'ltiregistration/moodle', 'webhook/archive'])
    await waitReady(platform, SPACE, resource);
  const { status } = await getJson<TenantObject>(platform, 'tenant', TENANT, '-n', SPACE);
  assert.equal(status?.readyReplicas, 2);
  assert.equal(status?.apiUrl, `http://${TENANT}.carrel.localhost:${platform.port}/api/v1`);
}

async function unrestrictedPodIsRefused({ platform }: Installation): Promise<void> {
  const { code, stderr } = await kubectl(platform, ['-n', SPACE, 'run', 'plain', '--image=carrel:0.1.0']);
  assert.notEqual(code, 0);
  assert.match(stderr, /violates PodSecurity "restricted:latest"/);
}

async function filesGoBothWays({ platform }: Installation): Promise<void> {
  const { admin } = await signIn(platform, SPACE, TENANT);
  const content = Buffer.alloc(FILE_BYTES, 'leaf');
  const uploaded = await admin.upload('/files', { file: content, name: 'leaf.bin' });
  assert.equal(uploaded.status, 201);
  const listed = await admin.get('/files');
  assert.deepEqual(
    listed.body.data?.map(({ name }: { name: string }) => name),
    ['leaf.bin'],
  );
  const downloaded = await admin.get(`/files/${uploaded.body.id}/download`);
  assert.equal(downloaded.status, 200);
  assert.ok(downloaded.bytes.equals(content));
}

async function webhookArrives({ platform }: Installation): Promise<void> {
  const { secret = '' } = await secretValues(platform, SPACE, 'archive-webhook');
  const [delivery] = await waitFor('the delivery of file.created', async () => {
    const found = await deliveries(platform);
    return found.length > 0 && found;
  });
  assert.ok(delivery);
  assert.ok(verifiesStandard(delivery, secret));
  assert.match(delivery.body, /leaf\.bin/);
}

/** Without a metrics server the cluster's autoscaler keeps to its bounds and does not scale by load. */
async function autoscalerScales(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const change = (spec: object) =>
    kubectlOk(platform, ['-n', SPACE, 'patch', 'tenant', TENANT, '--type=merge', '-p', JSON.stringify({ spec })]);
  const before = (await podNames(carrel)).toSorted();
  await change({ replicas: null, autoscaling: { min: 2, max: 4 } });
  await waitFor('the condition to name the missing metrics', async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="WorkloadAvailable")].message}';
    return /^2 of 2 pods are ready; .*FailedGetResourceMetric$/.test(
      await kubectlOk(platform, ['-n', SPACE, 'get', 'tenant', TENANT, '-o', path]),
    );
  });
  assert.deepEqual((await podNames(carrel)).toSorted(), before);
  await change({ autoscaling: { min: 3, max: 4 } });
  await waitFor(
    'three ready pods',
    async () => (await getJson<TenantObject>(platform, 'tenant', TENANT, '-n', SPACE)).status?.readyReplicas === 3,
  );
  await change({ replicas: 2, autoscaling: null });
  await waitFor(
    'the autoscaler to go',
    async () => (await kubectlOk(platform, ['-n', SPACE, 'get', 'hpa', '-o', 'name'])) === '',
  );
  await kubectlOk(platform, ['-n', SPACE, 'rollout', 'status', `deployment/${TENANT}`, '--timeout=90s']);
  await waitFor('the end of the third pod', async () => (await podNames(carrel)).length === 2);
}

/** The operator notices the kinds that are installed while it runs. */
async function gatewayIsMissing({ platform }: Installation): Promise<void> {
  const expose = (exposure: object) =>
    kubectlOk(platform, ['-n', SPACE, 'patch', 'tenant', TENANT, '--type=merge', '-p', JSON.stringify({ spec: { exposure } })]);
  const children = async (): Promise<string> =>
    (await kubectlOk(platform, ['-n', SPACE, 'get', 'httproute,ingress', '-o', 'name'])).trim();
  const exposed = `jsonpath={.status.conditions[?(@.type=="Exposed")].reason}`;
  await kubectlOk(platform, ['apply', '--server-side', '-f', join(ROOT, 'config/gateway-api')]);
  await expose({ type: 'Gateway', gateway: { name: 'edge' } });
  await waitFor('the missing Gateway to be named', async () => {
    return (await kubectlOk(platform, ['-n', SPACE, 'get', 'tenant', TENANT, '-o', exposed])) === 'GatewayMissing';
  });
  assert.match(await children(), /^httproute/);
  assert.doesNotMatch(await children(), /ingress/);
  await expose({ type: 'Ingress', gateway: null });
  await waitFor('the Ingress in its place', async () => (await children()) === `ingress.networking.k8s.io/${TENANT}`);
  await waitReady(platform, SPACE, `tenant/${TENANT}`);
}

async function doctorFindsNothing({ platform }: Installation): Promise<void> {
  const { code, stdout } = await kubectl(platform, [
    '-n',
    NAMESPACE,
    'exec',
    'deploy/carrel-operator',
    '--',
    'node',
    'cmd/carrel/main.js',
    'doctor',
  ]);
  assert.match(stdout, /\nNothing is wrong\.\n$/);
  assert.equal(code, 0);
}

/** The kubelet's main process alone: containers go on without it, and it finds them again. */
async function kubeletIsKilled({ platform, cluster }: Installation): Promise<void> {
  const { admin, apiUrl } = await signIn(platform, SPACE, TENANT);
  const before = await podNames({ platform });
  const kubelet = cluster.processes.find((pid) => commandOf(pid).startsWith(cluster.binaries.kubelet));
  assert.ok(kubelet);
  const load = startLoad(admin, apiUrl);
  process.kill(kubelet, 'SIGKILL');
  await waitFor('another kubelet', () =>
    cluster.processes.some((pid) => pid !== kubelet && commandOf(pid).startsWith(cluster.binaries.kubelet)),
  );
  // A new pod needs it.
  await kubectlOk(platform, ['-n', 'outside', 'rollout', 'restart', 'deployment/receiver']);
  await kubectlOk(platform, ['-n', 'outside', 'rollout', 'status', 'deployment/receiver', '--timeout=60s']);
  await load.stop();
  assert.deepEqual(Object.keys(load.outcomes).toSorted(), ['GET 200', 'POST 201']);
  assert.deepEqual((await podNames({ platform })).toSorted(), before.toSorted());
}

function containersAreKilled(carrel: Installation): Promise<void> {
  return comesBack(carrel, 'after the containers.txt', carrel.cluster.containers);
}

/**
 * Restarts everything as after a crash of the machine, except that no unwritten data are lost: control plane, containerd,
 * kubelet and the pods' sandboxes too.
 */
function nodeRestarts(carrel: Installation): Promise<void> {
  return comesBack(carrel, 'after the node.txt', carrel.cluster.programs);
}

/** Kills these processes at once; `name`: of a file that is uploaded afterwards. */
async function comesBack(carrel: Installation, name: string, killed: readonly number[]): Promise<void> {
  const { platform } = carrel;
  const before = await restarts(carrel);
  for (const pid of killed) signal(pid, 'SIGKILL');
  await waitFor('a new start of every container', async () => {
    const now = await restarts(carrel).catch(() => undefined); // the API server may be starting
    // A pod that was ending already does not come back.
    return now !== undefined && Object.entries(before).every(([pod, count]) => (now[pod] ?? Infinity) > count);
  });
  await carrel.rolledOut();
  await kubectlOk(platform, ['-n', 'outside', 'rollout', 'status', 'deployment/receiver', '--timeout=90s']);
  await kubectlOk(platform, ['-n', SPACE, 'rollout', 'status', `deployment/${TENANT}`, '--timeout=90s']);
  await waitReady(platform, SPACE, `tenant/${TENANT}`);
  const { admin } = await signIn(platform, SPACE, TENANT);
  const files: { id: string; size: number }[] = (await admin.get('/files')).body.data;
  const file = files.find(({ size }) => size === FILE_BYTES);
  assert.equal((await admin.get(`/files/${file?.id}/download`)).bytes.length, FILE_BYTES);
  assert.equal((await admin.upload('/files', { file: Buffer.from('again'), name })).status, 201);
  await waitFor('its delivery', async () => (await deliveries(platform)).some(({ body }) => body.includes(name)));
}

/** Returns how often the container of each pod was restarted. */
async function restarts({ platform }: Installation): Promise<Record<string, number>> {
  const path =
    'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.status.containerStatuses[0].restartCount}{"\\n"}{end}';
  const lines = (await kubectlOk(platform, ['get', 'pods', '-A', '--field-selector=status.phase=Running', '-o', path]))
    .trim()
    .split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ')).map(([pod = '', count]) => [pod, Number(count)]));
}

async function outOfMemory({ platform }: Installation): Promise<void> {
  const { admin, apiUrl } = await signIn(platform, SPACE, TENANT);
  const setMemory = (resources: object | null) =>
    kubectlOk(platform, ['-n', SPACE, 'patch', 'tenant', TENANT, '--type=merge', '-p', JSON.stringify({ spec: { resources } })]);
  const load = startLoad(admin, apiUrl);
  await setMemory({ requests: { memory: '48Mi' }, limits: { memory: '48Mi' } });
  await waitFor('OOMKilled', async () => {
    const path = 'jsonpath={.items[*].status.containerStatuses[*].lastState.terminated.reason}';
    return (await kubectlOk(platform, ['-n', SPACE, 'get', 'pods', '-o', path])).includes('OOMKilled');
  });
  await setMemory(null);
  await waitReady(platform, SPACE, `tenant/${TENANT}`);
  await kubectlOk(platform, ['-n', SPACE, 'rollout', 'status', `deployment/${TENANT}`, '--timeout=90s']);
  await load.stop();
  assert.deepEqual(Object.keys(load.outcomes).toSorted(), ['GET 200', 'POST 201']);
}

async function tenantIsSuspended(carrel: Installation): Promise<void> {
  const { platform } = carrel;
  const url = `http://${await serviceAddress(carrel)}/api/v1/openapi.json`;
  const ask = async () => {
    const reply = await sendRaw(url, { headers: ['host', new URL((await signedOut(carrel)).url).host] });
    return {
      status: reply.status,
      error: (reply.body as { error?: string } | undefined)?.error,
      retryAfter: reply.headers['retry-after'],
    };
  };
  const suspend = (suspended: boolean) =>
    kubectlOk(platform, ['-n', SPACE, 'patch', 'tenant', TENANT, '--type=merge', '-p', JSON.stringify({ spec: { suspended } })]);
  const before = await fileNames(carrel);
  await suspend(true);
  await waitFor('the operator’s answer', async () => {
    const { status, error, retryAfter } = await ask();
    return status === 503 && error === 'suspended' && retryAfter === '60';
  });
  await waitFor('the end of its pods', async () => (await podNames(carrel)).length === 0);
  await suspend(false);
  await waitReady(platform, SPACE, `tenant/${TENANT}`);
  await waitFor('the server’s answer', async () => (await ask()).status === 200);
  assert.deepEqual(await fileNames(carrel), before);
  assert.notEqual(before.length, 0);
}

async function fileNames({ platform }: Installation): Promise<string[]> {
  const { admin } = await signIn(platform, SPACE, TENANT);
  const files: { name: string }[] = (await admin.get('/files')).body.data;
  return files.map(({ name }) => name);
}

async function signedOut({ platform }: Installation): Promise<Api> {
  const { status } = await getJson<TenantObject>(platform, 'tenant', TENANT, '-n', SPACE);
  return new Api(status?.apiUrl ?? '');
}

export async function tenantIsDeleted({ platform }: Installation): Promise<void> {
  await kubectlOk(platform, ['-n', SPACE, 'delete', 'tenant', TENANT, '--timeout=90s']);
  await waitFor(
    'the end of its pods',
    async () => (await kubectlOk(platform, ['-n', SPACE, 'get', 'pods', '-o', 'name'])) === '',
  );
}
