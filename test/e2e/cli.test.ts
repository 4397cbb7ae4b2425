import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { kubectl } from '../../pkg/local/kubectl.ts';
import { freePort } from '../support/backends/ports.ts';
import { bringUp, carrel, deletePlatform, newPlatform, platform, type Platform } from '../support/programs/platform.ts';
import { waitFor } from '../support/wait.ts';

/** `carrel up` on a machine that is not tidy. Only the platform itself runs here: it is what can break. */
const platforms: Platform[] = [];
const freshPlatform = async (): Promise<Platform> => {
  const made = await newPlatform();
  platforms.push(made);
  return made;
};
/** The platform of the other tests, beside which these stand. */
const others = await platform();
const ONLY = ['--only', 'platform'];
const PROGRAMS = [
  'postgres',
  'valkey',
  'valkey-queue',
  'versitygw',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'node',
  'router',
];
const pidOf = (where: Platform, program: string): number =>
  Number.parseInt(readFileSync(join(where.stateDirectory, 'run', `${program}.pid`), 'utf8'), 10);

const receiverOf = ({ stateDirectory }: Platform): Promise<string> =>
  kubectl(stateDirectory, 'get', 'webhook', '-A', '-o', 'jsonpath={.items[?(@.metadata.name=="general-receiver")].spec.url}');

/** A state directory that tests have one after the other; each finds it up, however the one before has left it. */
let shared: Platform;
const upPlatform = async (): Promise<Platform> => {
  await bringUp(shared, ONLY);
  return shared;
};

beforeAll(async () => {
  shared = await freshPlatform();
});

afterAll(async () => {
  for (const where of platforms) await deletePlatform(where);
});

test('up twice is harmless, and the programs stay the same ones', async () => {
  const where = await upPlatform();
  const before = pidOf(where, 'kube-apiserver');

  const again = await carrel(where, ['up', ...ONLY]);

  expect(again).toMatchObject({ code: 0 });
  expect(pidOf(where, 'kube-apiserver')).toBe(before);
});

test('two platforms run side by side and share nothing', async () => {
  const one = await upPlatform();
  const status = await carrel(one, ['status']);
  // Its Tenants are other tests', who make and break them; the programs are what could be in each other's way.
  await waitFor('the programs of the other platform to be ready', async () => {
    const { stdout } = await carrel(others, ['status']);
    return PROGRAMS.every((program) => new RegExp(`^  ${program} +ready\\b`, 'm').test(stdout));
  });

  expect(status.code).toBe(0);
  expect(pidOf(one, 'etcd')).not.toBe(pidOf(others, 'etcd'));
});

test('a taken port is one line that names the port and what to do', async () => {
  const where = await freshPlatform();
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(where.port, '127.0.0.1', resolve));

  const ran = await carrel(where, ['up', ...ONLY]);
  await new Promise((resolve) => squatter.close(resolve));

  expect(ran.code).toBe(1);
  expect(ran.stderr.trim().split('\n').at(-1)).toMatch(new RegExp(`${where.port}.*CARREL_PORT`));
  expect(`${ran.stdout}${ran.stderr}`.split('is taken by another program')).toHaveLength(2); // reported once
  expect(ran.stderr).not.toContain('    at ');
});

test('a killed program restarts by itself', async () => {
  const where = await upPlatform();
  const pid = pidOf(where, 'valkey');

  process.kill(pid, 'SIGKILL');
  const young = await waitFor('another valkey', () => {
    const now = pidOf(where, 'valkey');
    return now !== pid && now;
  });

  expect(young).not.toBe(pid);
});

test('up continues after Ctrl-C, moves to another port with its samples, and clean leaves nothing behind', async () => {
  const where = await freshPlatform();
  const broken = carrel(where, ['up']);
  await waitFor('etcd to be started', () => existsSync(join(where.stateDirectory, 'run', 'etcd.pid')));
  process.kill(Number.parseInt(readFileSync(join(where.stateDirectory, 'run', 'up.lock'), 'utf8'), 10), 'SIGINT');
  await broken;

  const again = await carrel(where, ['up']);
  const before = await receiverOf(where);
  await carrel(where, ['down']);
  const elsewhere = { ...where, port: await freePort() };
  const moved = await carrel(elsewhere, ['up']);
  const after = await receiverOf(elsewhere);
  const cleaned = await carrel(elsewhere, ['clean']);

  // The reason stands in its last lines.
  expect([again, moved].filter(({ code }) => code !== 0)).toEqual([]);
  expect([before, after]).toEqual([where, elsewhere].map(({ port }) => `http://receiver.localhost:${port}/general`));
  expect(cleaned).toMatchObject({ code: 0 });
  expect(existsSync(where.stateDirectory)).toBe(false);
}, 600_000);

test('after its supervisor was killed, up repairs it: no program runs twice', async () => {
  const where = await upPlatform();
  const before = PROGRAMS.map((program) => pidOf(where, program));
  process.kill(pidOf(where, 'supervisor'), 'SIGKILL');

  const again = await carrel(where, ['up', ...ONLY]);
  const after = PROGRAMS.map((program) => pidOf(where, program));
  const twice = PROGRAMS.filter((_program, index) => before[index] !== after[index] && existsSync(`/proc/${before[index]}`));

  expect(again).toMatchObject({ code: 0 });
  expect(twice).toEqual([]);
});

test('down leaves no process of the platform, and a half-written state file is repaired or reported in one line', async () => {
  const where = await upPlatform();

  const down = await carrel(where, ['down']);
  const left = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(`CARREL_HOME=${where.stateDirectory}\0`),
  );
  writeFileSync(join(where.stateDirectory, 'kubeconfig'), 'apiVersion: v1\nclu');
  writeFileSync(join(where.stateDirectory, 'run', 'status.json'), '{"half');
  writeFileSync(join(where.stateDirectory, 'run', 'supervisor.pid'), '');
  const up = await carrel(where, ['up', ...ONLY]);

  expect(down.code).toBe(0);
  expect(left).toEqual([]);
  expect(up).toMatchObject({ code: 0 });
});

test('a state file that cannot be recreated is reported in one line that says what to do', async () => {
  const where = await upPlatform();
  await carrel(where, ['down']);
  const settings = join(where.stateDirectory, 'settings.json');
  const whole = readFileSync(settings);
  writeFileSync(settings, '{"half');

  const ran = await carrel(where, ['up', ...ONLY]);
  writeFileSync(settings, whole);

  expect(ran.code).toBe(1);
  expect(ran.stderr.trim().split('\n').at(-1)).toMatch(/settings\.json.*make clean/);
  expect(ran.stderr).not.toContain('    at ');
});

test.each([['nonsense'], ['up', '--nonsense'], ['logs', 'nonsense']])(
  'carrel %s is refused with a line that helps',
  async (...args) => {
    const ran = await carrel(others, args);

    expect(ran.code).not.toBe(0);
    expect(ran.stderr).not.toContain('    at ');
    expect(ran.stderr.trim()).not.toBe('');
  },
);

test.each([[], ['up'], ['down'], ['status'], ['clean'], ['restart'], ['logs']])(
  'carrel %s --help says what it does',
  async (...args) => {
    const ran = await carrel(others, [...args, '--help']);

    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/Usage: carrel/);
  },
);

const environmentOf = (pid: string): string => read(`/proc/${pid}/environ`);

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
