import { expect, test } from '@jest/globals';
import type { ConfigMap, Pod, Secret } from '../../kube/kinds.ts';
import { type Container, expand, resolveEnvironment, type Settings } from './environment.ts';
import { commandOf, requireImage } from './image.ts';
import { PodAddresses, withPorts } from './addresses.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const settings: Settings = {
  secret: async (name) =>
    name === 'keys' ? ({ data: { url: encoded('postgres://ä'), port: encoded('5') } } as Secret) : undefined,
  configMap: async (name) => (name === 'plain' ? ({ data: { level: 'info' } } as ConfigMap) : undefined),
};
const pod: Pod = {
  metadata: { name: 'general-1', namespace: 'school', uid: 'u-1', labels: { app: 'carrel' } },
  spec: { nodeName: 'local', containers: [] },
  status: { podIP: '127.9.8.10', hostIP: '127.9.8.1' },
};
const container = (more: Partial<Container>): Container => ({ name: 'server', image: 'carrel:dev', ...more });
const resolve = (more: Partial<Container>): Promise<Record<string, string>> => resolveEnvironment(container(more), pod, settings);

test('values come from Secrets, ConfigMaps and fields, in order, and may refer to earlier ones', async () => {
  const values = await resolve({
    envFrom: [{ configMapRef: { name: 'plain' }, prefix: 'LOG_' }, { secretRef: { name: 'keys' } }],
    env: [
      { name: 'URL', valueFrom: { secretKeyRef: { name: 'keys', key: 'url' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'SAYS', value: '$(LOG_level) $(IP) $(LATER) $$(IP)' },
      { name: 'LATER', value: 'x' },
    ],
  });

  expect(values).toEqual({
    LOG_level: 'info',
    url: 'postgres://ä',
    port: '5',
    URL: 'postgres://ä',
    IP: '127.9.8.10',
    APP: 'carrel',
    SAYS: 'info 127.9.8.10 $(LATER) $(IP)',
    LATER: 'x',
  });
});

test('optional values may be missing', async () => {
  const values = await resolve({
    envFrom: [{ secretRef: { name: 'none', optional: true } }],
    env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'none', optional: true } } }],
  });

  expect(values).toEqual({});
});

test.each([
  ['a Secret', { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'a' } } }] }, 'secret "none" not found'],
  [
    'a key',
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'a' } } }] },
    "couldn't find key a in Secret school/keys",
  ],
  ['a ConfigMap', { envFrom: [{ configMapRef: { name: 'none' } }] }, 'configmap "none" not found'],
])('a container without %s is reported in a kubelet’s words', async (_, more, message) => {
  await expect(resolve(more)).rejects.toMatchObject({ reason: 'CreateContainerConfigError', message });
});

test('an unknown name in $() stays as written', () => {
  expect(expand('$(A)-$(B)-$$(A)-$', { A: '1' })).toBe('1-$(B)-$(A)-$');
});

test('carrel:* runs the checkout’s TypeScript by this Node; any other image cannot be pulled', () => {
  const root = `${import.meta.dirname}/../../..`;
  const own = container({ command: ['node', 'cmd/carrel/main.js'], args: ['--name=$(NAME)'] });

  expect(commandOf(own, { NAME: 'x' }, root)).toEqual([process.execPath, 'cmd/carrel/main.ts', '--name=x']);
  expect(() => requireImage({ ...own, image: 'nginx:1' })).toThrow(expect.objectContaining({ reason: 'ErrImagePull' }));
  expect(() => requireImage({ ...own, image: 'carrelly/x:1' })).toThrow('image carrelly/x:1 is unavailable');
});

test('each pod has an address of its own, keeps it across a restart of the node, and releases it at its end', async () => {
  const addresses = new PodAddresses('127.9.8', '127.9.8.1');
  const named = (uid: string, podIP?: string): Pod => ({ metadata: { uid }, status: podIP === undefined ? {} : { podIP } });

  expect(await addresses.assign(named('a', '127.9.8.10'))).toEqual({ ip: '127.9.8.10', ports: {} });
  expect(await addresses.assign(named('b'))).toEqual({ ip: '127.9.8.11', ports: {} });
  expect(await addresses.assign(named('c', '127.9.8.10'))).toEqual({ ip: '127.9.8.12', ports: {} });
  addresses.release('a');
  expect(await addresses.assign(named('d'))).toEqual({ ip: '127.9.8.10', ports: {} });
});

test('if pods share one address, free ports replace the declared ones, and the environment names them', async () => {
  const addresses = new PodAddresses(null, '127.0.0.1');

  const address = await addresses.assign({
    metadata: { uid: 'a' },
    spec: { containers: [container({ ports: [{ containerPort: 8080 }] })] },
  });

  const port = address?.ports['8080'];
  expect(port).toBeGreaterThan(0);
  expect(withPorts({ CARREL_PORT: '8080', CARREL_PUBLIC_PORT: '80', SIZE: '8080' }, address ?? { ip: '', ports: {} })).toEqual({
    CARREL_PORT: String(port),
    CARREL_PUBLIC_PORT: '80',
    SIZE: '8080',
  });
});
