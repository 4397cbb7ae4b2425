import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../runtime/clock.ts';
import { systemRandom } from '../runtime/random.ts';
import { LocalError } from './errors.ts';
import { addressOf, paths, type Home } from './home.ts';
import type { PartName } from './parts/parts.ts';
import { resolvePart, type Machine, type Progress } from './parts/resolve.ts';
import { controlPlaneSpecs, writeCredentials } from './programs/controlplane.ts';
import { demoSpec, nodeSpec, operatorSpec, routerSpec, workerSpec } from './programs/own.ts';
import { postgresSpec, postgresUrls } from './programs/postgres.ts';
import { valkeySpec, valkeyUrl } from './programs/valkey.ts';
import { s3Access, versitygwSpec } from './programs/versitygw.ts';
import { installResources } from './resources.ts';
import { Supervisor, type ProgramSpec, type ProgramStatus } from './supervisor.ts';

/** Postgres, Valkey and S3; the control plane; process node and router; operator, worker and the demo's LMS and receiver. */
export type Group = 'stores' | 'controlplane' | 'node' | 'programs';

/** `carrel up --only platform` leaves the programs out. */
export const GROUPS_OF_PLATFORM: readonly Group[] = ['stores', 'controlplane', 'node'];
export const ALL_GROUPS: readonly Group[] = [...GROUPS_OF_PLATFORM, 'programs'];

export const PARTS_OF: Readonly<Record<Group, readonly PartName[]>> = {
  stores: ['postgres', 'valkey', 'versitygw'],
  controlplane: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'],
  node: [],
  programs: [],
};

export interface PlatformOptions {
  readonly home: Home;
  readonly machine: Machine;
  readonly groups: readonly Group[];
  /** False for tests: nothing is forced to disk. */
  readonly durable?: boolean;
  readonly progress?: Progress;
}

/** What the programs of these groups are, after building or fetching the parts they need. Throws LocalError for a part that cannot be had. */
export async function programsOf(options: PlatformOptions): Promise<ProgramSpec[]> {
  const { home, machine, groups, durable = true } = options;
  const parts: Partial<Record<PartName, string>> = {};
  for (const name of groups.flatMap((group) => PARTS_OF[group])) parts[name] = await resolvePart(name, machine, options.progress);
  linkParts(home, parts);
  const part = (name: PartName): string => parts[name] ?? '';
  const specs: ProgramSpec[] = [];
  if (groups.includes('stores')) {
    specs.push(
      await postgresSpec(home, part('postgres'), { durable }),
      valkeySpec(home, part('valkey'), { durable }),
      await versitygwSpec(home, part('versitygw')),
    );
  }
  if (groups.includes('controlplane')) {
    writeCredentials(home, systemClock.now());
    const named = {
      etcd: part('etcd'),
      'kube-apiserver': part('kube-apiserver'),
      'kube-controller-manager': part('kube-controller-manager'),
    };
    specs.push(...controlPlaneSpecs(home, named, { durable }));
  }
  if (groups.includes('node')) specs.push(nodeSpec(home, machine), routerSpec(home, machine));
  if (groups.includes('programs')) specs.push(operatorSpec(home, machine), workerSpec(home, machine), demoSpec(home, machine));
  const names = new Set(specs.map(({ name }) => name));
  const withResources = groups.includes('programs') && groups.includes('controlplane');
  return specs.map((spec) => ({
    ...spec,
    after: spec.after.filter((name) => names.has(name)),
    // Before operator and worker start, which watch them.
    ...(withResources && spec.name === 'kube-apiserver' ? { afterReady: () => installResources(home.path, machine.root) } : {}),
  }));
}

/** `.carrel/bin`: links to the parts in use, so that a person has the kubectl that fits. */
function linkParts(home: Home, parts: Partial<Record<PartName, string>>): void {
  const { bin } = paths(home.path);
  mkdirSync(bin, { recursive: true });
  for (const [name, program] of Object.entries(parts)) {
    const link = join(bin, name === 'valkey' ? basename(program) : name);
    rmSync(link, { force: true });
    symlinkSync(program, link);
  }
}

export interface RunningPlatform {
  readonly supervisor: Supervisor;
  /** Ends every program; the data stay. */
  stop(): Promise<void>;
}

/** Starts the groups under a supervisor in this process and waits until all are ready. Throws LocalError when one does not get so, with nothing left running. */
export async function startPlatform(options: PlatformOptions): Promise<RunningPlatform> {
  const specs = await programsOf(options);
  const supervisor = new Supervisor({ home: options.home.path, specs, clock: systemClock, random: systemRandom });
  supervisor.start();
  try {
    await untilReady(options.home.path, () => supervisor.status);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return { supervisor, stop: () => supervisor.stop() };
}

/** So many ends before the first good start mean that it will not come. */
const HOPELESS_RESTARTS = 4;

/** Waits until every program is ready. Throws LocalError naming the one that keeps failing, why, and its log. */
export async function untilReady(
  home: string,
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
      throw new LocalError(`${name} does not start: ${reason}. Its log: ${join(paths(home).logs, `${name}.log`)}`);
    }
    await sleep(options.pollMs ?? 50);
  }
}

/** Addresses of the stores, for operator, worker and the tests. */
export const storeAddresses = (home: Home) => ({
  postgres: postgresUrls(home),
  redis: { adminUrl: valkeyUrl(home), address: addressOf(home, 'valkey') },
  s3: s3Access(home),
  shardsDir: paths(home.path).shards,
  platformKeys: home.settings.platformKeys,
});
export type StoreAddresses = ReturnType<typeof storeAddresses>;

type StartOptions = Omit<PlatformOptions, 'groups'>;

/** Postgres, Valkey and S3 alone. */
export async function startStores(options: StartOptions): Promise<StoreAddresses & RunningPlatform> {
  const running = await startPlatform({ ...options, groups: ['stores'] });
  return { ...storeAddresses(options.home), ...running };
}
