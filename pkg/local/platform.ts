import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../runtime/clock.ts';
import { systemRandom } from '../runtime/random.ts';
import { CommandError } from '../runtime/command-error.ts';
import { addressOf, paths, type StateDirectory } from './state-directory.ts';
import type { BinaryName } from './binaries/binaries.ts';
import { resolveBinary, type Machine, type Progress } from './binaries/resolve.ts';
import { controlPlaneSpecs, writeCredentials } from './programs/controlplane.ts';
import { demoSpec, helpersSpec, nodeSpec, operatorSpec, routerSpec, workerSpec } from './programs/carrel.ts';
import { postgresSpec, postgresUrls } from './programs/postgres.ts';
import { queueValkeySpec, queueValkeyUrl, valkeySpec, valkeyUrl } from './programs/valkey.ts';
import { s3Access, versitygwSpec } from './programs/versitygw.ts';
import { installResources } from './resources.ts';
import { Supervisor, type ProgramSpec, type ProgramStatus } from './supervisor.ts';

/**
 * Postgres, Valkey and S3; the control plane; process node and router; operator, worker, helpers and the demo's LMS and receiver.
 */
export type Group = 'stores' | 'controlplane' | 'node' | 'programs';

/** `carrel up --only platform` leaves the programs out. */
export const GROUPS_OF_PLATFORM: readonly Group[] = ['stores', 'controlplane', 'node'];
export const ALL_GROUPS: readonly Group[] = [...GROUPS_OF_PLATFORM, 'programs'];

export const BINARIES_OF: Readonly<Record<Group, readonly BinaryName[]>> = {
  stores: ['postgres', 'valkey', 'versitygw'],
  controlplane: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'],
  node: [],
  programs: [],
};

interface PlatformOptions {
  readonly stateDirectory: StateDirectory;
  readonly machine: Machine;
  readonly groups: readonly Group[];
  /** False for tests: nothing is forced to disk. */
  readonly durable?: boolean;
  readonly progress?: Progress;
}

/**
 * Returns the programs of these groups, after building or downloading their binaries. Throws CommandError if a binary is
 * unavailable.
 */
export async function programsOf(options: PlatformOptions): Promise<ProgramSpec[]> {
  const { stateDirectory, machine, groups, durable = true } = options;
  const binaries: Partial<Record<BinaryName, string>> = {};
  for (const name of groups.flatMap((group) => BINARIES_OF[group]))
    binaries[name] = await resolveBinary(name, machine, options.progress);
  linkBinaries(stateDirectory, binaries);
  const binary = (name: BinaryName): string => binaries[name] ?? '';
  const specs: ProgramSpec[] = [];
  if (groups.includes('stores')) {
    specs.push(
      await postgresSpec(stateDirectory, binary('postgres'), { durable }),
      valkeySpec(stateDirectory, binary('valkey')),
      queueValkeySpec(stateDirectory, binary('valkey')),
      await versitygwSpec(stateDirectory, binary('versitygw')),
    );
  }
  if (groups.includes('controlplane')) {
    writeCredentials(stateDirectory, systemClock.now());
    const named = {
      etcd: binary('etcd'),
      'kube-apiserver': binary('kube-apiserver'),
      'kube-controller-manager': binary('kube-controller-manager'),
    };
    specs.push(...controlPlaneSpecs(stateDirectory, named, { durable }));
  }
  if (groups.includes('node')) specs.push(nodeSpec(stateDirectory, machine), routerSpec(stateDirectory, machine));
  if (groups.includes('programs'))
    specs.push(...[operatorSpec, workerSpec, helpersSpec, demoSpec].map((spec) => spec(stateDirectory, machine)));
  const names = new Set(specs.map(({ name }) => name));
  const withResources = groups.includes('programs') && groups.includes('controlplane');
  return specs.map((spec) => ({
    ...spec,
    after: spec.after.filter((name) => names.has(name)),
    // Installed before operator and worker start, which watch them.
    ...(withResources && spec.name === 'kube-apiserver'
      ? { afterReady: () => installResources(stateDirectory.path, machine.root) }
      : {}),
  }));
}

/** Fills `.carrel/bin` with links to the binaries in use, so that people have the right version of kubectl. */
function linkBinaries(stateDirectory: StateDirectory, binaries: Partial<Record<BinaryName, string>>): void {
  const { bin } = paths(stateDirectory.path);
  mkdirSync(bin, { recursive: true });
  for (const [name, program] of Object.entries(binaries)) {
    const link = join(bin, name === 'valkey' ? basename(program) : name);
    rmSync(link, { force: true });
    symlinkSync(program, link);
  }
}

export interface RunningPlatform {
  readonly supervisor: Supervisor;
  /** Ends every program and keeps the data. */
  stop(): Promise<void>;
}

/**
 * Starts the groups under a supervisor in this process and waits until all are ready. If a program does not become ready, ends
 * all and throws CommandError.
 */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const specs = await programsOf(options);
  const supervisor = new Supervisor({
    stateDirectory: options.stateDirectory.path,
    specs,
    clock: systemClock,
    random: systemRandom,
  });
  supervisor.start();
  try {
    await untilReady(options.stateDirectory.path, () => supervisor.status);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return { supervisor, stop: () => supervisor.stop() };
}

/** A program that ended this often before its first successful start is given up. */
const HOPELESS_RESTARTS = 4;

/** Waits until every program is ready. Throws CommandError that names the failing program, the reason, and its log. */
export async function untilReady(
  stateDirectory: string,
  status: () => Readonly<Record<string, ProgramStatus>> | undefined,
  options: { timeoutMs?: number; pollMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + (options.timeoutMs ?? 120_000);
  for (;;) {
    const entries = Object.entries(status() ?? {});
    const late = entries.filter(([, { state }]) => state !== 'ready');
    if (entries.length > 0 && late.length === 0) return;
    const [name, { reason = 'no reason known' }] = late.find(([, each]) => each.restarts >= HOPELESS_RESTARTS) ??
      late.find(([, { state }]) => state !== 'waiting') ?? ['the supervisor', {}];
    if (late.some(([, each]) => each.restarts >= HOPELESS_RESTARTS) || performance.now() > deadline) {
      throw new CommandError(`${name} does not start: ${reason}. Its log: ${join(paths(stateDirectory).logs, `${name}.log`)}`);
    }
    await sleep(options.pollMs ?? 50);
  }
}

/** Returns the addresses of the stores, for operator, worker and the tests. */
export const storeAddresses = (stateDirectory: StateDirectory) => ({
  postgres: postgresUrls(stateDirectory),
  redis: {
    adminUrl: valkeyUrl(stateDirectory),
    address: addressOf(stateDirectory, 'valkey'),
    queueUrl: queueValkeyUrl(stateDirectory),
  },
  s3: s3Access(stateDirectory),
  shardsDir: paths(stateDirectory.path).shards,
  platformKeys: stateDirectory.settings.platformKeys,
});
export type StoreAddresses = ReturnType<typeof storeAddresses>;

type StartOptions = Omit<PlatformOptions, 'groups'>;

/** Starts only Postgres, Valkey and S3. */
export async function startStores(options: StartOptions): Promise<StoreAddresses & RunningPlatform> {
  const running = await startPlatform({ ...options, groups: ['stores'] });
  return { ...storeAddresses(options.stateDirectory), ...running };
}
