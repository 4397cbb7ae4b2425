import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '../../test/support/wait.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { systemRandom } from '../runtime/random.ts';
import { isAlive, processesOf } from './processes.ts';
import { type ProgramSpec, Supervisor } from './supervisor.ts';
import { untilReady } from './platform.ts';

let stateDirectory: string;
let supervisor: Supervisor | undefined;
beforeEach(() => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'carrel-supervisor-'));
});
afterEach(async () => {
  await supervisor?.stop();
  rmSync(stateDirectory, { recursive: true, force: true });
});

const program = (name: string, script: string, after: string[] = []): ProgramSpec => ({
  name,
  command: process.execPath,
  args: ['-e', script],
  after,
  ready: async () => {
    if (!readFileSync(join(stateDirectory, 'logs', `${name}.log`), 'utf8').includes('ready')) throw new Error('not ready yet');
  },
});
const start = (...specs: ProgramSpec[]): Supervisor => {
  supervisor = new Supervisor({ stateDirectory, specs, clock: systemClock, random: systemRandom });
  supervisor.start();
  return supervisor;
};
/** Waits until the store runs again, as another process than before. */
const again = (running: Supervisor, before: number): Promise<unknown> =>
  waitFor('the store to run again', () => {
    const { pid, state } = running.status['store'] ?? {};
    return pid !== before && state === 'ready';
  });
const STAYS = 'console.log("ready"); setInterval(() => {}, 1000)';

test('a program that is killed is started again, under a new pid in its file', async () => {
  const running = start(program('store', STAYS));
  await running.whenReady();
  const before = running.status['store']?.pid ?? 0;

  process.kill(before, 'SIGKILL');
  await again(running, before);

  expect(isAlive(before)).toBe(false);
  expect(running.status['store']?.restarts).toBe(1);
  expect(Number(readFileSync(join(stateDirectory, 'run', 'store.pid'), 'utf8'))).toBe(running.status['store']?.pid);
});

test('a program that no longer answers is killed and started again, and one that is slow once continues', async () => {
  const quick: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) };
  const store = { asked: 0, answers: (at: number): boolean => at % 3 === 0 };
  const alive = async (): Promise<void> => {
    store.asked += 1;
    if (!store.answers(store.asked)) throw new Error('no answer');
  };
  supervisor = new Supervisor({
    stateDirectory,
    specs: [{ ...program('store', STAYS), alive }],
    clock: quick,
    random: systemRandom,
  });
  supervisor.start();
  await supervisor.whenReady();
  const before = supervisor.status['store']?.pid ?? 0;
  await waitFor('twelve questions', () => store.asked >= 12);
  const slow = supervisor.status['store']?.pid;

  store.answers = () => false;
  await waitFor('the end of the program', () => !isAlive(before));
  store.answers = () => true;
  await again(supervisor, before);

  expect(slow).toBe(before);
  expect(supervisor.status['store']?.pid).not.toBe(before);
});

test('a program waits for the programs it needs, and outlives those that need it', async () => {
  const log = (name: string): string =>
    'process.on("SIGTERM", () => { console.log(Date.now()); process.exit() }); setInterval(() => {}, 1000); ' +
    `console.log("ready"); // ${name}`;
  const running = start(program('client', log('client'), ['store']), program('store', log('store')));
  expect(running.status['client']?.state).toBe('waiting');
  await running.whenReady();

  await running.stop();

  const endedAt = (name: string): number =>
    Number(
      readFileSync(join(stateDirectory, 'logs', `${name}.log`), 'utf8')
        .trim()
        .split('\n')
        .at(-1),
    );
  expect(endedAt('client')).toBeLessThanOrEqual(endedAt('store'));
  expect(processesOf(stateDirectory)).toEqual([]);
});

test('a program that never starts is reported in one line with its known reason and its log', async () => {
  const running = start({
    ...program('s3', 'console.log("xattr check failed"); process.exit(1)'),
    explain: (log) => (log.includes('xattr') ? 'no extended attributes' : undefined),
  });

  await expect(untilReady(stateDirectory, () => running.status)).rejects.toThrow(
    `s3 does not start: no extended attributes. Its log: ${join(stateDirectory, 'logs', 's3.log')}`,
  );
});

test('processes of a state directory are found by their environment, whoever started them', async () => {
  const running = start(program('store', STAYS));
  await running.whenReady();

  expect(processesOf(stateDirectory)).toMatchObject([{ pid: running.status['store']?.pid, program: 'store' }]);
});

test('a program restarts after its log was deleted, and while a file of the supervisor cannot be written', async () => {
  let isFull = false;
  supervisor = new Supervisor({
    stateDirectory,
    specs: [{ ...program('store', STAYS), ready: async () => {}, explain: () => undefined }],
    clock: systemClock,
    random: systemRandom,
    onChange: () => {
      if (isFull) throw new Error('ENOSPC: no space left on device');
    },
  });
  const running = supervisor;
  running.start();
  await running.whenReady();
  const before = running.status['store']?.pid ?? 0;

  rmSync(join(stateDirectory, 'logs'), { recursive: true });
  rmSync(join(stateDirectory, 'run'), { recursive: true });
  writeFileSync(join(stateDirectory, 'run'), 'in the way');
  isFull = true;
  process.kill(before, 'SIGKILL');
  await again(running, before);

  expect(isAlive(running.status['store']?.pid ?? 0)).toBe(true);
});

test('a program whose log cannot be opened is reported, and starts once it can', async () => {
  writeFileSync(join(stateDirectory, 'logs'), 'in the way');
  const running = start({ ...program('store', STAYS), ready: async () => {} });
  await waitFor('the failed start', () => running.status['store']?.state === 'restarting');
  const reason = running.status['store']?.reason;

  rmSync(join(stateDirectory, 'logs'));
  await running.whenReady();

  expect(reason).toContain('EEXIST');
});
