import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { isAlive } from '../pkg/local/processes.ts';
import { TestRun } from './test-run.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-run-'));
const pids: number[] = [];

afterAll(() => {
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

/** A process that ends by no signal but SIGKILL, with this environment. */
async function stubborn(environment: Record<string, string>): Promise<number> {
  const program = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')";
  const child = spawn(process.execPath, ['-e', program], {
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  pids.push(child.pid as number);
  return child.pid as number;
}

/** No process has this pid, since the kernel gives none above 4,194,304; another run of this test has another. */
const DEAD_RUN = `${5_000_000 + process.pid}-1`;

test('a run whose runner was killed is found by the processes that carry its id, and ending it ends them', async () => {
  const pid = await stubborn({ CARREL_TEST_RUN: DEAD_RUN });

  const left = TestRun.abandoned(root).filter(({ id }) => id === DEAD_RUN);
  const ended = await Promise.all(left.map((run) => run.end()));

  expect(ended).toEqual([1]);
  expect(isAlive(pid)).toBe(false);
});

test('the programs of a platform whose state lies in a folder of a killed run end with it, and the folder goes', async () => {
  const folder = join(root, '.carrel', 'test', DEAD_RUN);
  const stateDirectory = join(folder, 'scratch', 'state');
  mkdirSync(stateDirectory, { recursive: true });
  const pid = await stubborn({ CARREL_HOME: stateDirectory, CARREL_PROGRAM: 'postgres' });

  for (const left of TestRun.abandoned(root)) if (left.id === DEAD_RUN) await left.end();

  expect(isAlive(pid)).toBe(false);
  expect(existsSync(folder)).toBe(false);
});

test('the data of a run go with it, also where they lie in memory', async () => {
  const run = TestRun.begin(root, { inMemory: true });
  const { CARREL_TEST_DATA: data = '' } = run.environment;
  mkdirSync(join(data, 'stores'));

  await run.end();

  expect(data).toContain(run.id);
  expect(existsSync(data)).toBe(false);
});

test('another run does not end a run that is still active', async () => {
  const run = TestRun.begin(root);
  const pid = await stubborn({ ...run.environment });

  const found = TestRun.abandoned(root).map(({ id }) => id);
  const own = run.processes().map((each) => each.pid);
  await run.end();

  expect(found).not.toContain(run.id);
  expect(own).toContain(pid);
});
