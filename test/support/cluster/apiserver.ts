import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { makeScratch, testBackends } from '../backends/backends.ts';
import { freePort } from '../backends/ports.ts';
import type { SharedAccess, SharedName } from './shared-cluster-access.ts';
import { waitFor } from '../wait.ts';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** The path of a binary, which is built first where it is missing. */
const programPath = (name: 'etcd' | 'kube-apiserver'): Promise<string> => resolveBinary(name, thisMachine(ROOT));

export interface ApiAccess {
  /** Credentials of a member of system:masters. */
  readonly kubeConfig: KubeConfig;
  readonly url: string;
}

/** An API server that a test may harm. */
export interface ApiServer extends ApiAccess {
  readonly dir: string;
  /** Kills etcd (-9 by default) and resolves when it is gone. */
  stopEtcd(signal?: NodeJS.Signals): Promise<void>;
  /** Starts etcd again on the same data. */
  startEtcd(): Promise<void>;
  /** Compacts all revisions but the newest, as the server does every few minutes. */
  compact(): Promise<void>;
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  startApiServer(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A control plane of its own for one test file: etcd and kube-apiserver on free ports of loopback, with their data in a new
 * folder.
 */
export async function startApiServer(): Promise<ApiServer> {
  const dir = await makeScratch('kube');
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
  const token = randomBytes(16).toString('hex');
  const etcd = new ChildProgram('etcd', await programPath('etcd'), dir, etcdArguments(dir, client, peer));
  const api = new ChildProgram(
    'kube-apiserver',
    await programPath('kube-apiserver'),
    dir,
    apiServerArguments(dir, client, secure, token),
  );
  const etcdUrl = `http://127.0.0.1:${client}`;
  const url = `https://127.0.0.1:${secure}`;
  const startEtcd = async (): Promise<void> => {
    etcd.start();
    await etcd.ready(async () => (await get(`${etcdUrl}/health`)).includes('true'));
  };
  const startApi = async (): Promise<void> => {
    api.start();
    await api.ready(async () => (await get(`${url}/readyz`, token)) === 'ok');
  };
  const close = async (): Promise<void> => {
    await api.stop('SIGKILL');
    await etcd.stop('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await startEtcd();
    await startApi();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    kubeConfig: adminConfig(url, readFileSync(join(dir, 'certs', 'apiserver.crt')), token),
    url,
    dir,
    stopEtcd: (signal = 'SIGKILL') => etcd.stop(signal),
    startEtcd,
    compact: () => compact(etcdUrl),
    stopApiServer: (signal = 'SIGKILL') => api.stop(signal),
    startApiServer: startApi,
    close,
  };
}

/**
 * A shared API server, which starts when nobody has asked for it before; `operator` has the rights of the operator's
 * ServiceAccount.
 */
export async function sharedApiServer(name: SharedName): Promise<ApiAccess & { readonly operator: KubeConfig }> {
  const response = await fetch(`${testBackends().clusters}/${name}`);
  if (!response.ok) throw new Error(`the shared API server "${name}" did not start: ${await response.text()}`);
  const { url, admin, operator } = (await response.json()) as SharedAccess;
  return { url, kubeConfig: configOf(admin), operator: configOf(operator) };
}

/** Returns the end of the log of the operator that files share; '' where there is none. */
export async function sharedOperatorLog(name: SharedName): Promise<string> {
  const response = await fetch(`${testBackends().clusters}/${name}?log`);
  return response.text();
}

function configOf(text: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(text);
  return config;
}

/** A child process that can be stopped and started again. Its output goes to `<name>.log` in the folder. */
class ChildProgram {
  readonly #name: string;
  readonly #program: string;
  readonly #dir: string;
  readonly #arguments: string[];
  #process: ChildProcess | undefined;
  #watchdog: ChildProcess | undefined;

  constructor(name: string, program: string, dir: string, args: string[]) {
    this.#name = name;
    this.#program = program;
    this.#dir = dir;
    this.#arguments = args;
  }

  start(): void {
    const log = openSync(this.logFile, 'a');
    this.#process = spawn(this.#program, this.#arguments, { stdio: ['ignore', log, log], cwd: this.#dir });
    closeSync(log);
    // When the test run is killed, the pipe closes and the watchdog ends the program.
    this.#watchdog = spawn('sh', ['-c', `read -r _; kill -9 ${this.#process.pid}`], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#watchdog.unref();
  }

  get logFile(): string {
    return join(this.#dir, `${this.#name}.log`);
  }

  /** Throws with the end of its output when it has exited. */
  ready(condition: () => Promise<boolean>): Promise<unknown> {
    return waitFor(`${this.#name}, see ${this.logFile}`, async () => {
      const ended = this.#process?.exitCode ?? null;
      if (ended !== null) throw new Error(`${this.#name} ended: ${readFileSync(this.logFile, 'utf8').slice(-2000)}`);
      return condition();
    });
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const process = this.#process;
    this.#watchdog?.kill('SIGKILL');
    this.#process = undefined;
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const gone = new Promise((resolve) => process.once('exit', resolve));
    process.kill(signal);
    await gone;
  }
}

const etcdArguments = (dir: string, client: number, peer: number): string[] => [
  '--name=test',
  `--data-dir=${join(dir, 'etcd')}`,
  `--listen-client-urls=http://127.0.0.1:${client}`,
  `--advertise-client-urls=http://127.0.0.1:${client}`,
  `--listen-peer-urls=http://127.0.0.1:${peer}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
  `--initial-cluster=test=http://127.0.0.1:${peer}`,
  '--unsafe-no-fsync',
];

function apiServerArguments(dir: string, etcd: number, secure: number, token: string): string[] {
  mkdirSync(join(dir, 'certs'), { recursive: true });
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content, { mode: 0o600 });
    return join(dir, name);
  };
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${secure}`,
    `--cert-dir=${join(dir, 'certs')}`,
    '--authorization-mode=RBAC',
    `--token-auth-file=${file('tokens.csv', `${token},admin,admin,system:masters\n`)}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-account.pub', publicKey)}`,
    `--service-account-signing-key-file=${file('service-account.key', privateKey)}`,
    '--service-cluster-ip-range=10.0.0.0/16',
    // Nothing here makes the ServiceAccount that it would ask for.
    '--disable-admission-plugins=ServiceAccount',
    '--watch-cache=true',
  ];
}

function adminConfig(url: string, ca: Buffer, token: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'test', server: url, caData: ca.toString('base64'), skipTLSVerify: false },
    { name: 'admin', token },
  );
  return config;
}

const insecure = new Agent({ connect: { rejectUnauthorized: false }, keepAliveTimeout: 1 });

async function get(url: string, token?: string): Promise<string> {
  const { statusCode, body } = await request(url, {
    dispatcher: insecure,
    headers: token ? { authorization: `Bearer ${token}` } : {},
  });
  const text = await body.text();
  return statusCode === 200 ? text : '';
}

/** Through etcd's JSON gateway. */
async function compact(etcdUrl: string): Promise<void> {
  const post = async (path: string, message: object): Promise<{ header: { revision: string } }> => {
    const { body } = await request(`${etcdUrl}${path}`, { dispatcher: insecure, method: 'POST', body: JSON.stringify(message) });
    return (await body.json()) as { header: { revision: string } };
  };
  const { header } = await post('/v3/kv/range', { key: Buffer.from('x').toString('base64') });
  await post('/v3/kv/compaction', { revision: header.revision, physical: true });
}
