import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Deployment, Ingress, Pod, Secret, Service } from '../../../pkg/kube/kinds.ts';
import { DEPLOYMENT, INGRESS, POD, SECRET, SERVICE } from '../../../pkg/kube/kinds.ts';
import type { KubeObject, Kind, Observed } from '../../../pkg/kube/object.ts';
import { ResourceApi } from '../../../pkg/kube/resource.ts';
import type { KubeClient } from '../../../pkg/kube/transport.ts';
import { openStateDirectory, paths, type StateDirectory } from '../../../pkg/local/state-directory.ts';
import { run } from '../../../pkg/local/binaries/run.ts';
import { thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { type RunningPlatform, startPlatform } from '../../../pkg/local/platform.ts';
import { pkiPaths } from '../../../pkg/local/programs/controlplane.ts';
import { isAlive, processesOf } from '../../../pkg/local/processes.ts';
import { clientOf } from '../../../pkg/local/client.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { waitFor } from '../../support/wait.ts';

/** A control plane with process node and router of its own: the tests kill its programs. */
let folder: string;
let stateDirectory: StateDirectory;
let platform: RunningPlatform;
let client: KubeClient;

beforeAll(async () => {
  const parent = join(ROOT, '.carrel', 'test');
  await mkdir(parent, { recursive: true });
  folder = await mkdtemp(join(parent, 'local-'));
  stateDirectory = await openStateDirectory(join(folder, 'state'), { routerPort: 0 });
  platform = await startPlatform({
    stateDirectory,
    machine: thisMachine(ROOT),
    groups: ['controlplane', 'node'],
    durable: false,
  });
  client = clientOf(stateDirectory.path);
}, 120_000);

afterAll(async () => {
  await client?.close();
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const SERVER = `
  const { createServer } = require('node:http');
  console.log('serving as ' + process.env.GREETING);
  createServer((request, response) => {
    if (request.url === '/crash') process.exit(7);
    const from = request.headers['x-forwarded-for'];
    response.end(JSON.stringify({ greeting: process.env.GREETING, pod: process.env.POD, from }));
  }).listen(8080, process.env.CARREL_LISTEN_HOST);
`;

function deployment(name: string, more: { image?: string; replicas?: number } = {}): Deployment {
  const labels = { app: name };
  const env = [
    { name: 'GREETING', valueFrom: { secretKeyRef: { name, key: 'greeting' } } },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ];
  const server = {
    name: 'server',
    image: more.image ?? 'carrel:dev',
    command: ['node', '-e', SERVER],
    env,
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
  };
  return {
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: more.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [server], terminationGracePeriodSeconds: 2 } },
    },
  };
}
const secret = (name: string): Secret => ({
  metadata: { name, namespace: 'default' },
  stringData: { greeting: `hello ${name}` },
});
const service = (name: string): Service => ({
  metadata: { name, namespace: 'default' },
  spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
});
const ingress = (name: string): Ingress => ({
  metadata: { name, namespace: 'default' },
  spec: {
    rules: [
      {
        host: `${name}.localhost`,
        http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { name: 'http' } } } }] },
      },
    ],
  },
});

const create = <T extends KubeObject>(kind: Kind<T>, object: T): Promise<Observed<T>> =>
  new ResourceApi(client, kind).create(object);
const podsOf = (name: string): Promise<Observed<Pod>[]> =>
  new ResourceApi(client, POD).list({ namespace: 'default', labelSelector: `app=${name}` });
const containers = () => processesOf(stateDirectory.path).filter(({ program }) => program === 'container');
const pidsOf = (name: string): number[] =>
  containers().flatMap(({ pid, environment }) => (environment['CARREL_POD']?.startsWith(`default/${name}-`) ? [pid] : []));
const waitingOf = async (name: string) => (await podsOf(name))[0]?.status?.containerStatuses?.[0]?.state?.waiting;

/** GET of http://<name>.localhost at the router; the name needs no resolver here. */
function get(name: string, path = '/'): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: stateDirectory.settings.routerPort,
      path,
      headers: { host: `${name}.localhost` },
      agent: false as const,
    };
    request(
      options,
      (response) => void text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject),
    )
      .once('error', reject)
      .end();
  });
}

async function serve(name: string, replicas = 1): Promise<void> {
  await create(SECRET, secret(name));
  await create(SERVICE, service(name));
  await create(INGRESS, ingress(name));
  await create(DEPLOYMENT, deployment(name, { replicas }));
  await waitFor(`${name} answers`, async () => (await get(name)).status === 200);
}

test('a Deployment of carrel:dev answers at its Ingress’ host, through the router', async () => {
  await serve('first');

  const { body } = await get('first');

  const [pod] = await podsOf('first');
  expect(JSON.parse(body)).toEqual({ greeting: 'hello first', pod: pod?.metadata.name, from: '127.0.0.1' });
  expect(pod?.status?.podIP).toMatch(new RegExp(`^${stateDirectory.settings.podNetwork}\\.`));
  const deployed = await waitFor('the Deployment is available', async () => {
    const found = await new ResourceApi(client, DEPLOYMENT).get({ namespace: 'default', name: 'first' });
    return found.status?.availableReplicas === 1 && found;
  });
  expect(deployed.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }));
});

test('kubectl logs shows what the container printed', async () => {
  await serve('logged');
  const { kubeconfig, bin } = paths(stateDirectory.path);

  const { stdout, output } = await run(join(bin, 'kubectl'), [
    '--kubeconfig',
    kubeconfig,
    'logs',
    'deployment/logged',
    '--tail=1',
  ]);

  expect(stdout === '' ? output : stdout).toBe('serving as hello logged\n');
});

test('a process that is killed or crashes is started again, and counted', async () => {
  await serve('killed');
  const [before] = pidsOf('killed');

  process.kill(before ?? 0, 'SIGKILL');

  const status = await waitFor('it runs again', async () => {
    const found = (await podsOf('killed'))[0]?.status?.containerStatuses?.[0];
    return found?.ready && found.restartCount === 1 && found;
  });
  expect(status.lastState?.terminated).toMatchObject({ exitCode: 137, signal: 9, reason: 'Error' });
  expect(pidsOf('killed')).not.toContain(before);
  await waitFor('it answers', async () => (await get('killed')).status === 200);
});

test('an image that is not this checkout is ErrImagePull, with the reason', async () => {
  await create(DEPLOYMENT, deployment('foreign', { image: 'nginx:1.27' }));

  const waiting = await waitFor('the reason in the pod’s status', () => waitingOf('foreign'));

  expect(waiting).toMatchObject({ reason: 'ErrImagePull', message: expect.stringContaining('image nginx:1.27 is unavailable') });
  expect(pidsOf('foreign')).toEqual([]);
});

test('a pod without its Secret says so, and starts once it is there', async () => {
  await create(DEPLOYMENT, deployment('late'));
  const waiting = await waitFor('the reason in the pod’s status', () => waitingOf('late'));
  expect(waiting).toEqual({ reason: 'CreateContainerConfigError', message: 'secret "late" not found' });

  await create(SECRET, secret('late'));

  await waitFor('it is ready', async () => (await podsOf('late'))[0]?.status?.containerStatuses?.[0]?.ready);
});

test('a deleted Deployment takes its pods, processes and folders along', async () => {
  await serve('deleted', 2);
  await waitFor('both run', () => pidsOf('deleted').length === 2);
  const pids = pidsOf('deleted');

  await new ResourceApi(client, DEPLOYMENT).delete({ namespace: 'default', name: 'deleted' });

  await waitFor('the pods are gone', async () => (await podsOf('deleted')).length === 0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect((await get('deleted')).status).toBe(503);
});

test('a killed node restarts, and no container runs twice', async () => {
  await serve('steady');
  const before = pidsOf('steady');
  const node = Number(await readFile(join(paths(stateDirectory.path).run, 'node.pid'), 'utf8'));

  process.kill(node, 'SIGKILL');

  await waitFor('the pod runs again', async () => {
    const pids = pidsOf('steady');
    return pids.length === 1 && pids[0] !== before[0] && (await get('steady')).status === 200;
  });
  expect(before.filter(isAlive)).toEqual([]);
  // The status is written after the container answers.
  await waitFor(
    'one restart in its status',
    async () => (await podsOf('steady'))[0]?.status?.containerStatuses?.[0]?.restartCount === 1,
  );
});

test("etcd's port for peers speaks only TLS, and only to who has a certificate of the platform's authority", async () => {
  const { authority, etcd } = pkiPaths(stateDirectory.path);
  const [ca, cert, key] = await Promise.all([authority.certificate, etcd.certificate, etcd.key].map((file) => readFile(file)));
  const { address, ports } = stateDirectory.settings;
  /** GET of what a peer asks first; a peer comes from the address of its certificate. */
  const members = (client: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = {
        host: address,
        port: ports.etcdPeer,
        path: '/members',
        ca,
        localAddress: address,
        agent: false as const,
        ...client,
      };
      const call = httpsRequest(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.once('error', reject).end();
    });

  await expect(fetch(`http://${address}:${ports.etcdPeer}/members`)).rejects.toThrow('fetch failed');
  await expect(members({})).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/);
  await expect(members({ cert, key })).resolves.toBe(200);
});

test('a truncated settings file is reported in one line and not replaced', async () => {
  const other = join(folder, 'other');
  await openStateDirectory(other, { routerPort: 0 });
  const { settings } = paths(other);
  await writeFile(settings, (await readFile(settings, 'utf8')).slice(0, 40));

  await expect(openStateDirectory(other)).rejects.toThrow(`${settings} is damaged, and the data's passwords with it.`);
});

test('two state directories have networks, and so addresses, of their own', async () => {
  const other = await openStateDirectory(join(folder, 'second'), { routerPort: 0 });

  expect(other.settings.address).not.toBe(stateDirectory.settings.address);
  expect(other.settings.secrets).not.toEqual(stateDirectory.settings.secrets);
});
