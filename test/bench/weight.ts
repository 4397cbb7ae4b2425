import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { programEnvironment, ROOT } from '../support/backends/backends.ts';
import { Api } from '../support/clients/api.ts';
import { freePort } from '../support/backends/ports.ts';
import { startTenant, type TestTenant } from '../support/programs/server.ts';
import type { TestStores } from '../support/backends/stores.ts';
import { range } from '../support/wait.ts';
import { byTurns, costLine, type Line, perSecond } from './measure.ts';

const START_MOST = 2;
const MEMORY_MOST = 1.5;
const IDLE_MS = 10_000;
const REQUESTS = 1_000;
const POLL_MS = 2;
const READY_WITHIN_MS = 60_000;

/** Each listens once it is ready. */
interface Program {
  readonly file: string;
  environment(port: number): Record<string, string>;
  /** Requests one after another. */
  use(url: string): Promise<unknown>;
}

interface Running {
  readonly startMs: number;
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Measures how soon a server is ready and how much memory it takes while nobody uses it, beside a Koa that connects to the same
 * stores.
 */
export async function weight(stores: TestStores): Promise<Line[]> {
  const tenant = await startTenant({ stores });
  const [ours, control] = [server(tenant), koa(tenant, stores)];
  try {
    const starts = await byTurns(
      () => startTime(ours),
      () => startTime(control),
    );
    const pss = { ours: 0, control: 0 };
    const idle = await byTurns(
      async () => ([, pss.ours] = await idleMemory(ours))[0],
      async () => ([, pss.control] = await idleMemory(control))[0],
      { rounds: 1 },
    );
    const pssOf = await byTurns(
      async () => pss.ours,
      async () => pss.control,
      { rounds: 1 },
    );
    const used = await byTurns(
      () => usedMemory(ours),
      () => usedMemory(control),
      { rounds: 3 },
    );
    const name = 'Koa with pg, ioredis and the S3 SDK';
    return [
      costLine('server: start to ready', starts, name, START_MOST, 'ms'),
      costLine('server: idle memory, RSS', idle, name, MEMORY_MOST, 'MiB'),
      costLine('server: idle memory, PSS', pssOf, name, MEMORY_MOST, 'MiB'),
      costLine(`server: RSS after ${REQUESTS} requests`, used, name, MEMORY_MOST, 'MiB'),
    ];
  } finally {
    await tenant.stop();
  }
}

const server = ({ env, administrator }: TestTenant): Program => ({
  file: 'cmd/server/main.ts',
  environment: (port) => ({
    ...env,
    CARREL_APP_URL: `http://127.0.0.1:${port}`,
    CARREL_PORT: String(port),
    CARREL_LOG_LEVEL: 'warn',
  }),
  use: async (url) => {
    const api = await new Api(`${url}/api/v1`).login(administrator.email, administrator.password);
    await perSecond(range(REQUESTS), 1, async () => void (await api.get('/files')));
  },
});

const koa = ({ config }: TestTenant, stores: TestStores): Program => ({
  file: 'test/bench/idle-server.ts',
  environment: (port) => ({
    PORT: String(port),
    REDIS_URL: stores.redis.adminUrl,
    DATABASE_URL: config.CARREL_DATABASE_URL,
    S3_ENDPOINT: config.CARREL_S3_ENDPOINT,
    S3_BUCKET: config.CARREL_S3_BUCKET,
    S3_KEY: config.CARREL_S3_ACCESS_KEY_ID,
    S3_SECRET: config.CARREL_S3_SECRET_ACCESS_KEY,
  }),
  use: (url) => perSecond(range(REQUESTS), 1, async () => void (await (await fetch(url)).text())),
});

async function start(program: Program): Promise<Running> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program.file], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...programEnvironment(), ...program.environment(port) },
  });
  const ended = once(child, 'exit');
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() - started > READY_WITHIN_MS)
      throw new Error(`${program.file} did not become ready`);
    await sleep(POLL_MS);
  }
  const startMs = performance.now() - started;
  return {
    startMs,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/** In ms from its start, with Node's compile cache as `carrel up` has it. */
async function startTime(program: Program): Promise<number> {
  const running = await start(program);
  await running.stop();
  return running.startMs;
}

/** RSS and PSS, in MiB, of a program that has had no request. */
async function idleMemory(program: Program): Promise<[number, number]> {
  const running = await start(program);
  await sleep(IDLE_MS);
  const memory: [number, number] = [memoryOf(running.pid, 'Rss'), memoryOf(running.pid, 'Pss')];
  await running.stop();
  return memory;
}

async function usedMemory(program: Program): Promise<number> {
  const running = await start(program);
  await program.use(running.url);
  const memory = memoryOf(running.pid, 'Rss');
  await running.stop();
  return memory;
}

export function memoryOf(pid: number, field: 'Rss' | 'Pss'): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
  });
