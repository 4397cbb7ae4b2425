import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/wait.ts';
import type { Pod, Secret } from '../../kube/kinds.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { systemRandom as random } from '../../runtime/random.ts';
import { ContainerRunner } from './container.ts';

let folder: string;
let running: { runner: ContainerRunner; ended: Promise<void> } | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-container-'));
});
afterEach(async () => {
  running?.runner.stop(0);
  await running?.ended;
  rmSync(folder, { recursive: true, force: true });
});

const container = {
  name: 'server',
  image: 'carrel:dev',
  command: ['node', '-e', 'console.log("word " + process.env.WORD); setInterval(() => {}, 1000)'],
  env: [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 's', key: 'word' } } }],
};
const pod: Pod = { metadata: { name: 'p', namespace: 'default', uid: 'u' }, spec: { containers: [container] } };

function start(word: () => string): ContainerRunner {
  const secret = async (): Promise<Secret> => ({ data: { word: Buffer.from(word()).toString('base64') } });
  const settings = () => ({ secret, configMap: async () => undefined });
  const context = {
    stateDirectory: folder,
    root: folder,
    clock,
    random,
    log: silentLogger,
    settings,
    stopping: new AbortController().signal,
    recordEvent() {},
  };
  const address = () => ({ ip: '127.0.0.1', ports: {} });
  const runner = new ContainerRunner({ context, container, pod: () => pod, address, folder, isInit: false, onChange() {} });
  running = { runner, ended: runner.run() };
  return runner;
}

const isUp = (runner: ContainerRunner) => waitFor('a running process', () => runner.status.state?.running !== undefined);
const isSaid = (runner: ContainerRunner) =>
  waitFor('a reason to wait', () => runner.status.state?.waiting?.message !== undefined);
const log = (runner: ContainerRunner): string => readFileSync(runner.logFile({ previous: false }), 'utf8');

test('a process that cannot start yet, such as on a full disk, reports why and starts once it can', async () => {
  writeFileSync(join(folder, 'logs'), 'in the way');
  const runner = start(() => 'up');
  await isSaid(runner);
  const { waiting } = runner.status.state ?? {};

  rmSync(join(folder, 'logs'));
  await isUp(runner);
  await waitFor('its word', () => log(runner) === 'word up\n');

  expect(waiting).toMatchObject({ reason: 'CreateContainerError', message: expect.stringContaining('logs') });
});

test('a value that no environment can hold is reported without the value, and its correction is applied', async () => {
  let word = 'private\0word';
  const runner = start(() => word);
  await isSaid(runner);
  const { waiting } = runner.status.state ?? {};

  word = 'right';
  await isUp(runner);
  await waitFor('its word', () => log(runner) === 'word right\n');

  expect(waiting?.reason).toBe('CreateContainerConfigError');
  expect(waiting?.message).toBe('environment variable WORD has a null byte in its value');
});
