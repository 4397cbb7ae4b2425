import { join } from 'node:path';
import { addressOf, paths, type Home } from '../home.ts';
import type { ProgramSpec } from '../supervisor.ts';
import { probe } from './controlplane.ts';
import { valkeyUrl } from './valkey.ts';
import { s3Access } from './versitygw.ts';

/** Our own programs, run by this Node from the sources of the checkout `root`. */
export interface Checkout {
  readonly root: string;
}

/**
 * Node keeps what it compiled of the sources, for all homes of a checkout: a start costs a quarter less time, and the process does
 * without the 35 MB of the TypeScript stripper.
 */
export const compileCache = (root: string): Record<string, string> => ({
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
});

/** A program of ours, from the sources of the checkout. */
const entry = ({ root }: Checkout, file: string, env: Record<string, string> = {}, ...args: string[]) => ({
  command: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', join(root, file), ...args],
  cwd: root,
  env: { ...compileCache(root), ...env },
});

export function nodeSpec(home: Home, checkout: Checkout): ProgramSpec {
  return {
    name: 'node',
    ...entry(checkout, 'cmd/carrel/main.ts', {}, 'run', 'node'),
    // The stores too, so that they outlive the pods that use them.
    after: ['kube-controller-manager', 'postgres', 'valkey', 'versitygw'],
    ready: (signal) => probe(home, `https://${addressOf(home, 'kubelet')}/healthz`, signal),
  };
}

export function routerSpec(home: Home, checkout: Checkout): ProgramSpec {
  return {
    name: 'router',
    ...entry(checkout, 'cmd/carrel/main.ts', {}, 'run', 'router'),
    after: ['kube-apiserver'],
    // By address it knows no host, and says so once it has read the Ingress objects.
    ready: (signal) => answers(`http://127.0.0.1:${home.settings.routerPort}/`, signal, 404),
  };
}

export function operatorSpec(home: Home, checkout: Checkout): ProgramSpec {
  const s3 = s3Access(home);
  return {
    name: 'operator',
    ...entry(checkout, 'cmd/operator/main.ts', {
      ...sharedEnvironment(home),
      KUBECONFIG: paths(home.path).kubeconfig,
      CARREL_REDIS_ADDRESS: addressOf(home, 'valkey'),
      CARREL_S3_ADMIN_ENDPOINT: s3.adminEndpoint,
      CARREL_BASE_DOMAIN: 'localhost',
      // Whoever reaches the API server here owns the machine.
      CARREL_ALLOWED_HOSTS: '*',
      CARREL_RESERVED_HOSTS: DEMO_HOSTS.join(','),
      CARREL_PUBLIC_SCHEME: 'http',
      CARREL_PUBLIC_PORT: String(home.settings.routerPort),
      CARREL_IMAGE: 'carrel:dev',
      CARREL_IMAGE_REPOSITORIES: 'carrel',
      CARREL_LEADER_ELECTION_NAMESPACE: 'carrel-system',
      CARREL_OPS_PORT: String(home.settings.ports.operatorOps),
    }),
    after: ['postgres', 'valkey', 'versitygw', 'kube-controller-manager', 'node'],
    ready: (signal) => answers(`http://${addressOf(home, 'operatorOps')}/readyz`, signal, 200),
  };
}

export function workerSpec(home: Home, checkout: Checkout): ProgramSpec {
  return {
    name: 'worker',
    ...entry(checkout, 'cmd/worker/main.ts', {
      ...sharedEnvironment(home),
      CARREL_OPS_PORT: String(home.settings.ports.workerOps),
    }),
    // The operator makes the schemas that the worker reads.
    after: ['operator'],
    ready: (signal) => answers(`http://${addressOf(home, 'workerOps')}/readyz`, signal, 200),
  };
}

/** Hosts of the demo's LMS and receiver, behind the router. */
export const DEMO_HOSTS = ['lms.localhost', 'receiver.localhost'];

/** The demo's other side. It is no part of the product, so a checkout without its tests does without it. */
export function demoSpec(home: Home, checkout: Checkout): ProgramSpec {
  return {
    name: 'demo',
    ...entry(checkout, 'test/support/demo/main.ts', {
      KUBECONFIG: paths(home.path).kubeconfig,
      CARREL_LISTEN_HOST: home.settings.address,
      CARREL_DEMO_PORT: String(home.settings.ports.demo),
      CARREL_PUBLIC_PORT: String(home.settings.routerPort),
    }),
    after: ['kube-apiserver'],
    ready: (signal) => answers(`http://${addressOf(home, 'demo')}/healthz`, signal, 200),
  };
}

/** What operator and worker are both told. */
function sharedEnvironment(home: Home): Record<string, string> {
  const s3 = s3Access(home);
  return {
    CARREL_SHARDS_DIR: paths(home.path).shards,
    CARREL_PLATFORM_KEYS: home.settings.platformKeys,
    CARREL_REDIS_ADMIN_URL: valkeyUrl(home),
    CARREL_S3_ENDPOINT: s3.endpoint,
    CARREL_S3_REGION: s3.region,
    CARREL_S3_ACCESS_KEY_ID: s3.accessKeyId,
    CARREL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    CARREL_LISTEN_HOST: home.settings.address,
    // Receivers and LMSs of a developer run on this machine; in a cluster nothing inward is open.
    CARREL_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
  };
}

async function answers(url: string, signal: AbortSignal, status: number): Promise<void> {
  const answer = await fetch(url, { signal });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${url} answers ${answer.status}: ${text.slice(0, 100).trim()}`);
}
