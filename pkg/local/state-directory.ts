import { randomBytes } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { CommandError, messageOf } from '../runtime/command-error.ts';
import { readIfThere, writeAtomically } from './files.ts';
import {
  choosePorts,
  freePort,
  hasLoopbackNetwork,
  loopbackNetwork,
  type PortName,
  probePort,
  probePortPatiently,
  WANTED_PORTS,
} from './ports.ts';

const SECRET_NAMES = [
  'adminToken',
  'controllerManagerToken',
  'postgresSuperuser',
  'postgresOperator',
  'postgresWorker',
  'valkeyAdmin',
  's3Secret',
] as const;

const Settings = z.object({
  /** The address of the platform's programs: x.y.z.1 of its own loopback network, or 127.0.0.1 if that network is missing. */
  address: z.string(),
  /** The first three bytes of the network of the pods' addresses; null: pods share `address`, on free ports. */
  podNetwork: z.string().nullable(),
  ports: z.object(
    // Settings of an earlier version lack newer ports, which get their usual numbers.
    Object.fromEntries(Object.entries(WANTED_PORTS).map(([name, wanted]) => [name, z.int().default(wanted)])) as Record<
      PortName,
      z.ZodDefault<z.ZodInt>
    >,
  ),
  /** CARREL_PORT: the router's port on 127.0.0.1 and ::1. */
  routerPort: z.int(),
  secrets: z.object(
    Object.fromEntries(SECRET_NAMES.map((name) => [name, z.string()])) as Record<(typeof SECRET_NAMES)[number], z.ZodString>,
  ),
  /** CARREL_PLATFORM_KEYS of operator and worker. */
  platformKeys: z.string(),
});
export type Settings = z.output<typeof Settings>;

/**
 * The state of one platform on this machine: a folder (CARREL_HOME, by default `.carrel`). `settings.json` is the only file in it
 * that cannot be generated again.
 */
export interface StateDirectory {
  /** Absolute. */
  readonly path: string;
  readonly settings: Settings;
}

export const DEFAULT_ROUTER_PORT = 8080;

export const paths = (stateDirectory: string) => ({
  settings: join(stateDirectory, 'settings.json'),
  kubeconfig: join(stateDirectory, 'kubeconfig'),
  bin: join(stateDirectory, 'bin'),
  logs: join(stateDirectory, 'logs'),
  run: join(stateDirectory, 'run'),
  data: join(stateDirectory, 'data'),
  pki: join(stateDirectory, 'pki'),
  shards: join(stateDirectory, 'shards'),
  pods: join(stateDirectory, 'pods'),
  supervisorLock: join(stateDirectory, 'run', 'supervisor.pid'),
  upLock: join(stateDirectory, 'run', 'up.lock'),
  status: join(stateDirectory, 'run', 'status.json'),
  /** Exists once config/samples were applied, so that a deleted tenant is not created again. */
  samples: join(stateDirectory, 'samples-applied'),
  /** Exists once the sample tenant has its sample data. */
  sampleData: join(stateDirectory, 'sample-data-added'),
  /** config/samples with this platform's port in their addresses. */
  samplesHere: join(stateDirectory, 'samples'),
});

/** Returns the settings of an existing state directory, otherwise undefined. Throws CommandError if the file is damaged. */
export function readSettings(stateDirectory: string): Settings | undefined {
  const file = paths(stateDirectory).settings;
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return Settings.parse(JSON.parse(text));
  } catch {
    throw new CommandError(
      `${file} is damaged, and the data's passwords with it. Restore a copy of it, or delete the data: make clean`,
    );
  }
}

/**
 * Opens the state directory, creates it the first time, and repairs what a crash left incomplete. Call it only while none of the
 * platform's programs is running. It replaces a port that another program took meanwhile by a free one. With `routerPort` 0 it
 * takes any free one.
 */
export async function openStateDirectory(
  path: string,
  options: { routerPort?: number | undefined } = {},
): Promise<StateDirectory> {
  const known = readSettings(path);
  if (!known && existsSync(join(paths(path).data, 'postgres'))) {
    throw new CommandError(
      `${paths(path).settings} is gone, and the data's passwords with it. Restore a copy of it, or delete the data: make clean`,
    );
  }
  makeFolders(path);
  for (const half of globSync(join(path, '**', '*.tmp'), { exclude: [join(path, 'data')] })) rmSync(half, { force: true });
  const addresses = known && (await isFree(known)) ? known : await chooseAddresses(path);
  const wanted = options.routerPort ?? known?.routerPort ?? DEFAULT_ROUTER_PORT;
  const settings: Settings = {
    address: addresses.address,
    podNetwork: addresses.podNetwork,
    ports: addresses.ports,
    routerPort: wanted === 0 ? await freePort('127.0.0.1') : wanted,
    secrets: known?.secrets ?? newSecrets(),
    platformKeys: known?.platformKeys ?? `local:${randomBytes(32).toString('base64')}`,
  };
  if (JSON.stringify(settings) !== JSON.stringify(known))
    writeAtomically(paths(path).settings, `${JSON.stringify(settings, null, 2)}\n`);
  return { path, settings };
}

/** The folder of the tests' temporary files, in a checkout's state directory. */
const TESTS = 'test';

/**
 * Returns true if a folder is a state directory, even an empty one, an incomplete one or one without its settings. The names of
 * its folders alone prove nothing, since other programs have a `bin`, a `data` and a `run` too, and `clean` removes a state
 * directory.
 */
export function isStateDirectory(path: string): boolean {
  const known = paths(path);
  if (readIfThere(known.settings)?.includes('"platformKeys"')) return true;
  const own = new Set(Object.values(known).map((each) => basename(each)));
  const names = (existsSync(path) ? readdirSync(path) : []).filter((name) => name !== TESTS && !name.endsWith('.tmp'));
  if (names.some((name) => !own.has(name))) return false;
  const wasUp = [known.upLock, known.supervisorLock, known.status].some((file) => existsSync(file));
  return wasUp || names.every((name) => isEmptyFolder(join(path, name)));
}

const isEmptyFolder = (path: string): boolean => statSync(path).isDirectory() && readdirSync(path).length === 0;

/**
 * Creates the empty folders of a state directory. Throws CommandError if they cannot be created or the folder has other files.
 */
export function makeFolders(path: string): void {
  try {
    if (!isStateDirectory(path)) throw new Error('it has other files');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const folder of ['bin', 'logs', 'run', 'data', 'pki', 'shards', 'pods'] as const)
      mkdirSync(paths(path)[folder], { recursive: true });
  } catch (error) {
    throw new CommandError(
      `${path} cannot be a state directory of Carrel (${messageOf(error)}). Set CARREL_HOME to a new folder that you can write.`,
    );
  }
}

async function isFree(settings: Settings): Promise<boolean> {
  const states = await Promise.all(Object.values(settings.ports).map((port) => probePortPatiently(settings.address, port)));
  return states.every((state) => state === 'free');
}

async function chooseAddresses(path: string): Promise<Pick<Settings, 'address' | 'podNetwork' | 'ports'>> {
  if (!(await hasLoopbackNetwork()))
    return { address: '127.0.0.1', podNetwork: null, ports: await choosePorts('127.0.0.1', WANTED_PORTS) };
  for (let salt = 0; salt < 8; salt++) {
    const network = loopbackNetwork(path, salt);
    const address = `${network}.1`;
    // A listener on all addresses (a Postgres of the machine) takes a port of every network; another platform takes them all.
    if (
      (await probePort(address, WANTED_PORTS.etcd)) === 'free' ||
      (await probePort(address, WANTED_PORTS.apiserver)) === 'free'
    ) {
      return { address, podNetwork: network, ports: await choosePorts(address, WANTED_PORTS) };
    }
  }
  throw new CommandError(
    'every loopback network that was tried is in use. End the other platforms on this machine (make down in their clones).',
  );
}

const newSecrets = (): Settings['secrets'] =>
  Object.fromEntries(SECRET_NAMES.map((name) => [name, randomBytes(24).toString('base64url')])) as Settings['secrets'];

export const addressOf = ({ settings }: StateDirectory, port: PortName): string => `${settings.address}:${settings.ports[port]}`;

/** Returns the state directory with its settings. Throws CommandError if there is none. */
export function existingStateDirectory(path: string): StateDirectory {
  const settings = readSettings(path);
  if (!settings) throw new CommandError(`there is no platform in ${path}. Start one: make up`);
  return { path, settings };
}
