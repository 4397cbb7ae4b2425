import { randomBytes } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { LocalError, messageOf } from './errors.ts';
import { readIfThere, writeAtomically } from './files.ts';
import { choosePorts, freePort, hasLoopbackNetwork, loopbackNetwork, probePort, probePortPatiently } from './ports.ts';

/** Ports of the home's own programs on `address`; the wanted numbers are those that people know. */
const WANTED_PORTS = {
  apiserver: 6443,
  etcd: 2379,
  etcdPeer: 2380,
  controllerManager: 10257,
  kubelet: 10250,
  postgres: 5432,
  valkey: 6379,
  s3: 7070,
  s3Admin: 7071,
  operatorOps: 9090,
  workerOps: 9091,
  demo: 7080,
};
export type PortName = keyof typeof WANTED_PORTS;

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
  /** Where the home's programs listen: x.y.z.1 of its own loopback network, 127.0.0.1 where there is no such network. */
  address: z.string(),
  /** First three bytes of the network that pods get addresses of; null: pods share `address`, with free ports. */
  podNetwork: z.string().nullable(),
  ports: z.object(
    // A home of an earlier version lacks what came later: then the wanted number is tried.
    Object.fromEntries(Object.entries(WANTED_PORTS).map(([name, wanted]) => [name, z.int().default(wanted)])) as Record<
      PortName,
      z.ZodDefault<z.ZodInt>
    >,
  ),
  /** CARREL_PORT: where the router answers on 127.0.0.1 and ::1. */
  routerPort: z.int(),
  secrets: z.object(
    Object.fromEntries(SECRET_NAMES.map((name) => [name, z.string()])) as Record<(typeof SECRET_NAMES)[number], z.ZodString>,
  ),
  /** CARREL_PLATFORM_KEYS of operator and worker. */
  platformKeys: z.string(),
});
export type Settings = z.output<typeof Settings>;

/** The state of one platform on this machine: a folder (CARREL_HOME, `.carrel` unless set). `settings.json` is its only file that cannot be made again. */
export interface Home {
  /** Absolute. */
  readonly path: string;
  readonly settings: Settings;
}

export const DEFAULT_ROUTER_PORT = 8080;

export const paths = (home: string) => ({
  settings: join(home, 'settings.json'),
  kubeconfig: join(home, 'kubeconfig'),
  bin: join(home, 'bin'),
  logs: join(home, 'logs'),
  run: join(home, 'run'),
  data: join(home, 'data'),
  pki: join(home, 'pki'),
  shards: join(home, 'shards'),
  pods: join(home, 'pods'),
  supervisorLock: join(home, 'run', 'supervisor.pid'),
  upLock: join(home, 'run', 'up.lock'),
  status: join(home, 'run', 'status.json'),
  /** There once config/samples were applied: a tenant that a person deletes does not come back. */
  samples: join(home, 'samples-applied'),
  /** config/samples with this home's port in their addresses. */
  samplesHere: join(home, 'samples'),
});

export const homePath = (root: string, env: NodeJS.ProcessEnv): string => resolve(env['CARREL_HOME'] || join(root, '.carrel'));

/** The settings of a home that exists, else undefined. Throws LocalError when the file is damaged. */
export function readSettings(home: string): Settings | undefined {
  const file = paths(home).settings;
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return Settings.parse(JSON.parse(text));
  } catch {
    throw new LocalError(`${file} is damaged, and the data's passwords with it. Put a copy of it back, or forget the data: make clean`);
  }
}

/**
 * Opens the home, makes it the first time, and mends what a crash may have left half-done. Call it only while none of its programs
 * runs: a port that another program took meanwhile is exchanged for a free one. `routerPort` 0 takes any free one.
 */
export async function openHome(path: string, options: { routerPort?: number | undefined } = {}): Promise<Home> {
  const known = readSettings(path);
  if (!known && existsSync(join(paths(path).data, 'postgres'))) {
    throw new LocalError(
      `${paths(path).settings} is gone, and the data's passwords with it. Put a copy of it back, or forget the data: make clean`,
    );
  }
  makeFolders(path);
  for (const half of globSync(join(path, '**', '*.tmp'), { exclude: [join(path, 'data')] })) rmSync(half, { force: true });
  const place = known && (await isFree(known)) ? known : await choosePlace(path);
  const wanted = options.routerPort ?? known?.routerPort ?? DEFAULT_ROUTER_PORT;
  const settings: Settings = {
    address: place.address,
    podNetwork: place.podNetwork,
    ports: place.ports,
    routerPort: wanted === 0 ? await freePort('127.0.0.1') : wanted,
    secrets: known?.secrets ?? newSecrets(),
    platformKeys: known?.platformKeys ?? `local:${randomBytes(32).toString('base64')}`,
  };
  if (JSON.stringify(settings) !== JSON.stringify(known)) writeAtomically(paths(path).settings, `${JSON.stringify(settings, null, 2)}\n`);
  return { path, settings };
}

/** Scratch of the tests, in the home of a checkout. */
const TESTS = 'test';

/**
 * Whether a folder is a home, also one that is half made, or lost its settings, or is empty yet. Names alone do not tell: many a folder has
 * a `bin`, a `data` and a `run`, and what is taken for a home is filled by `up` and removed by `clean`.
 */
export function isHome(path: string): boolean {
  const known = paths(path);
  if (readIfThere(known.settings)?.includes('"platformKeys"')) return true;
  const own = new Set(Object.values(known).map((each) => basename(each)));
  const names = (existsSync(path) ? readdirSync(path) : []).filter((name) => name !== TESTS && !name.endsWith('.tmp'));
  if (names.some((name) => !own.has(name))) return false;
  const wasUp = [known.upLock, known.supervisorLock, known.status].some((file) => existsSync(file));
  return wasUp || names.every((name) => isEmptyFolder(join(path, name)));
}

const isEmptyFolder = (path: string): boolean => statSync(path).isDirectory() && readdirSync(path).length === 0;

/** The home's empty folders. Throws LocalError where they cannot be made, or the folder is somebody else's. */
export function makeFolders(path: string): void {
  try {
    if (!isHome(path)) throw new Error('it holds other things');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const folder of ['bin', 'logs', 'run', 'data', 'pki', 'shards', 'pods'] as const)
      mkdirSync(paths(path)[folder], { recursive: true });
  } catch (error) {
    throw new LocalError(`${path} cannot be a home of Carrel (${messageOf(error)}). Set CARREL_HOME to a new folder that you can write.`);
  }
}

async function isFree(settings: Settings): Promise<boolean> {
  const states = await Promise.all(Object.values(settings.ports).map((port) => probePortPatiently(settings.address, port)));
  return states.every((state) => state === 'free');
}

async function choosePlace(path: string): Promise<Pick<Settings, 'address' | 'podNetwork' | 'ports'>> {
  if (!(await hasLoopbackNetwork())) return { address: '127.0.0.1', podNetwork: null, ports: await choosePorts('127.0.0.1', WANTED_PORTS) };
  for (let salt = 0; salt < 8; salt++) {
    const network = loopbackNetwork(path, salt);
    const address = `${network}.1`;
    // A listener on all addresses (a Postgres of the machine) takes a port of every network; another home takes them all.
    if ((await probePort(address, WANTED_PORTS.etcd)) === 'free' || (await probePort(address, WANTED_PORTS.apiserver)) === 'free') {
      return { address, podNetwork: network, ports: await choosePorts(address, WANTED_PORTS) };
    }
  }
  throw new LocalError(
    'every loopback network that was tried is in use. End the other platforms on this machine (make down in their clones).',
  );
}

const newSecrets = (): Settings['secrets'] =>
  Object.fromEntries(SECRET_NAMES.map((name) => [name, randomBytes(24).toString('base64url')])) as Settings['secrets'];

export const addressOf = ({ settings }: Home, port: PortName): string => `${settings.address}:${settings.ports[port]}`;

/** The home as its settings file tells it. Throws LocalError when there is none. */
export function existingHome(path: string): Home {
  const settings = readSettings(path);
  if (!settings) throw new LocalError(`there is no platform in ${path}. Start one: make up`);
  return { path, settings };
}
