import { join } from 'node:path';
import { compileCacheFolder } from '../../runtime/compile-cache.ts';
import { addressOf, paths, type StateDirectory } from '../state-directory.ts';
import type { ProgramSpec } from '../supervisor.ts';
import { probe } from './controlplane.ts';
import { queueValkeyUrl, valkeyUrl } from './valkey.ts';
import { s3Access } from './versitygw.ts';

/** The checkout `root`, whose sources this Node runs as our own programs. */
export interface Checkout {
  readonly root: string;
}

/**
 * Makes Node cache compiled sources, for all state directories of a checkout. A start takes a quarter less time, and the process
 * needs 35 MB less, since it does not load the TypeScript stripper.
 */
export const compileCache = (root: string): Record<string, string> => ({
  NODE_COMPILE_CACHE: compileCacheFolder(root),
});

/** Returns the command of a program of Carrel, run from the checkout. */
const entry = ({ root }: Checkout, file: string, env: Record<string, string> = {}, ...args: string[]) => ({
  command: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', join(root, file), ...args],
  cwd: root,
  env: { ...compileCache(root), ...env },
});

export function nodeSpec(stateDirectory: StateDirectory, checkout: Checkout): ProgramSpec {
  return {
    name: 'node',
    ...entry(checkout, 'cmd/carrel/main.ts', {}, 'run', 'node'),
    // Includes the stores, so that they outlive the pods that use them.
    after: ['kube-controller-manager', 'postgres', 'valkey', 'valkey-queue', 'versitygw'],
    ready: (signal) => probe(stateDirectory, `https://${addressOf(stateDirectory, 'kubelet')}/healthz`, signal),
  };
}

export function routerSpec(stateDirectory: StateDirectory, checkout: Checkout): ProgramSpec {
  return {
    name: 'router',
    ...entry(checkout, 'cmd/carrel/main.ts', {}, 'run', 'router'),
    after: ['kube-apiserver'],
    // The router knows no host by an address, and says so once it has read the Ingress objects.
    ready: (signal) => answers(`http://127.0.0.1:${stateDirectory.settings.routerPort}/`, signal, 404),
  };
}

export function operatorSpec(stateDirectory: StateDirectory, checkout: Checkout): ProgramSpec {
  const s3 = s3Access(stateDirectory);
  return {
    name: 'operator',
    ...entry(checkout, 'cmd/operator/main.ts', {
      ...sharedEnvironment(stateDirectory),
      KUBECONFIG: paths(stateDirectory.path).kubeconfig,
      CARREL_REDIS_ADDRESS: addressOf(stateDirectory, 'valkey'),
      CARREL_S3_ADMIN_ENDPOINT: s3.adminEndpoint,
      CARREL_BASE_DOMAIN: 'localhost',
      // Safe, since a client with access to this API server controls the machine anyway.
      CARREL_ALLOWED_HOSTS: '*',
      CARREL_RESERVED_HOSTS: [...DEMO_HOSTS, HELPERS_HOST].join(','),
      CARREL_PUBLIC_SCHEME: 'http',
      CARREL_PUBLIC_PORT: String(stateDirectory.settings.routerPort),
      CARREL_IMAGE: 'carrel:dev',
      CARREL_IMAGE_REPOSITORIES: 'carrel',
      CARREL_LEADER_ELECTION_NAMESPACE: 'carrel-system',
      CARREL_OPS_PORT: String(stateDirectory.settings.ports.operatorOps),
    }),
    after: ['postgres', 'valkey', 'versitygw', 'kube-controller-manager', 'node'],
    ready: (signal) => answers(`http://${addressOf(stateDirectory, 'operatorOps')}/readyz`, signal, 200),
  };
}

/**
 * The flags of the chart. V8 frees the buffers of streams once twice the size of the young generation has arrived, not 64 MiB
 * later. It collects the old generation after 30 % of growth, not after it has doubled or more, as thousands of small consecutive
 * requests would make it.
 */
export const WORKER_FLAGS: readonly string[] = ['--max-semi-space-size=16', '--heap-growing-percent=30'];

/**
 * The setting of the chart's worker for glibc's malloc. Otherwise each thread has an arena of its own, up to eight per core, and
 * what is freed in one stays there.
 */
export const WORKER_MALLOC: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '2' };

export function workerSpec(stateDirectory: StateDirectory, checkout: Checkout): ProgramSpec {
  const program = entry(checkout, 'cmd/worker/main.ts', {
    ...sharedEnvironment(stateDirectory),
    CARREL_QUEUE_REDIS_URL: queueValkeyUrl(stateDirectory),
    CARREL_OPS_PORT: String(stateDirectory.settings.ports.workerOps),
    ...WORKER_MALLOC,
  });
  return {
    name: 'worker',
    ...program,
    args: [...WORKER_FLAGS, ...program.args],
    // The operator creates the schemas that the worker reads.
    after: ['operator', 'valkey-queue'],
    ready: (signal) => answers(`http://${addressOf(stateDirectory, 'workerOps')}/readyz`, signal, 200),
  };
}

/** Hosts of the demo's LMS and receiver, behind the router. */
export const DEMO_HOSTS = ['lms.localhost', 'receiver.localhost'];

/** The host of the helper services, behind the router. */
export const HELPERS_HOST = 'helpers.localhost';

export function helpersSpec(stateDirectory: StateDirectory, checkout: Checkout): ProgramSpec {
  return {
    name: 'helpers',
    ...entry(checkout, 'cmd/helpers/main.ts', {
      CARREL_LISTEN_HOST: stateDirectory.settings.address,
      CARREL_HELPERS_PORT: String(stateDirectory.settings.ports.helpers),
      CARREL_OPS_PORT: String(stateDirectory.settings.ports.helpersOps),
      // Keys and the choice of translation services come from the shell in which the platform is started.
      ...fromShell(/^CARREL_(?:HELPERS_P|GOOGLE_|AZURE_|DEEPL_|LIBRETRANSLATE_)/),
    }),
    after: [],
    ready: (signal) => answers(`http://${addressOf(stateDirectory, 'helpersOps')}/readyz`, signal, 200),
  };
}

const fromShell = (names: RegExp): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => names.test(entry[0]) && entry[1] !== undefined),
  );

/** The demo's other side: an LMS and a receiver of webhooks. */
export function demoSpec(stateDirectory: StateDirectory, checkout: Checkout): ProgramSpec {
  return {
    name: 'demo',
    ...entry(checkout, 'cmd/carrel/main.ts', {}, 'run', 'demo'),
    after: ['kube-apiserver'],
    ready: (signal) => answers(`http://${addressOf(stateDirectory, 'demo')}/healthz`, signal, 200),
  };
}

/** A developer's receivers and LMSs run on this machine. In a cluster no private range is allowed by default. */
export const EGRESS_ALLOW = '127.0.0.0/8,::1/128';

/** The settings that operator and worker share. */
function sharedEnvironment(stateDirectory: StateDirectory): Record<string, string> {
  const s3 = s3Access(stateDirectory);
  return {
    CARREL_SHARDS_DIR: paths(stateDirectory.path).shards,
    CARREL_PLATFORM_KEYS: stateDirectory.settings.platformKeys,
    CARREL_REDIS_ADMIN_URL: valkeyUrl(stateDirectory),
    CARREL_S3_ENDPOINT: s3.endpoint,
    CARREL_S3_REGION: s3.region,
    CARREL_S3_ACCESS_KEY_ID: s3.accessKeyId,
    CARREL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    CARREL_LISTEN_HOST: stateDirectory.settings.address,
    CARREL_EGRESS_ALLOW: EGRESS_ALLOW,
  };
}

async function answers(url: string, signal: AbortSignal, status: number): Promise<void> {
  const answer = await fetch(url, { signal });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${url} answers ${answer.status}: ${text.slice(0, 100).trim()}`);
}
