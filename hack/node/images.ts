import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { resolveBinary, thisMachine } from '../../pkg/local/binaries/resolve.ts';
import { run } from '../../pkg/local/binaries/run.ts';
import { CommandError } from '../../pkg/runtime/command-error.ts';
import { stagesOf } from '../dockerfile.ts';
import { assembleImage } from '../image.ts';
import { PAUSE_IMAGE } from './configuration.ts';
import { type NodeBinaries, ROOT } from './programs.ts';
import { type ImageConfig, writeImage } from './oci.ts';

/** An image that the cluster gets: its file system is made here, of programs of this machine. */
interface Image {
  readonly reference: string;
  readonly config: ImageConfig;
  /** Fills the empty folder, which stands for /. */
  readonly fill: (root: string) => Promise<void>;
}

const PATH = 'PATH=/usr/local/bin:/usr/bin:/bin';
/** The commands that the chart's scripts call. */
const SHELL_TOOLS = ['bash', 'sh', 'cat', 'chmod', 'cut', 'grep', 'mkdir', 'mv', 'rm', 'sha256sum', 'timeout', 'touch'];
/** The wheel has no valkey-cli. This script sends the same commands as the chart's probe. */
const VALKEY_CLI = `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/6379
printf 'AUTH carrel_admin %s\\r\\nPING\\r\\n' "$REDISCLI_AUTH" >&3
read -r auth <&3
read -r pong <&3
echo "$pong"
`;

/** The images that every cluster needs. */
const clusterImages = (binaries: NodeBinaries): Image[] => [
  { reference: PAUSE_IMAGE, config: { Entrypoint: ['/pause'] }, fill: (root) => one(binaries.pause, root, 'pause') },
  {
    reference: 'localhost/coredns:1',
    config: { Entrypoint: ['/coredns'] },
    fill: (root) => one(binaries.coredns, root, 'coredns'),
  },
];

/**
 * Carrel's own image, and those of the chart's stores for a try, under the names that the chart's values have. Ours has what the
 * Dockerfile adds to its base; the base is this checkout's Node with the C library of this machine, instead of distroless'.
 */
export const carrelImages = (binaries: NodeBinaries): Image[] => [
  {
    reference: `docker.io/library/carrel:${versionOf('Dockerfile', /^ARG VERSION=(.+)$/m)}`,
    config: carrelConfig(),
    fill: fillCarrel,
  },
  {
    reference: `docker.io/library/${versionOf('charts/carrel/values.yaml', /image: (carrel-versitygw:\S+)/)}`,
    config: { User: '65532:65532', Entrypoint: ['/versitygw'] },
    fill: async (root) => one(await found('versitygw'), root, 'versitygw'),
  },
  {
    reference: versionOf('charts/carrel/values.yaml', /image: (docker\.io\/valkey\S+)/),
    config: { Env: [PATH], Cmd: ['valkey-server'] },
    fill: async (root) => {
      await baseSystem(root, SHELL_TOOLS.map(toolOf));
      await withLibraries(root, await found('valkey'), 'usr/local/bin/valkey-server');
      writeFileSync(join(root, 'usr/local/bin/valkey-cli'), VALKEY_CLI, { mode: 0o755 });
    },
  },
  {
    reference: versionOf('charts/carrel/values.yaml', /image: (docker\.io\/library\/postgres\S+)/),
    config: {
      Env: ['PATH=/usr/lib/postgresql/bin:/usr/local/bin:/usr/bin:/bin', 'PGDATA=/var/lib/postgresql/18/docker'],
      Entrypoint: ['/usr/local/bin/docker-entrypoint.sh'],
      Cmd: ['postgres'],
    },
    fill: (root) => fillPostgres(root, binaries.psql),
  },
];

/** The images that every cluster needs, as folders with OCI image layouts below `into`. */
export const writeClusterImages = (binaries: NodeBinaries, into: string): Promise<string[]> =>
  writeAll(clusterImages(binaries), into);
export const writeCarrelImages = (binaries: NodeBinaries, into: string): Promise<string[]> =>
  writeAll(carrelImages(binaries), into);

async function writeAll(images: readonly Image[], into: string): Promise<string[]> {
  const folders: string[] = [];
  for (const { reference, config, fill } of images) {
    const root = mkdtempSync(join(into, 'rootfs-'));
    try {
      await fill(root);
      mkdirSync(join(root, 'tmp'), { recursive: true });
      chmodSync(join(root, 'tmp'), 0o1777);
      chmodSync(root, 0o755);
      const folder = join(into, reference.replaceAll(/[^\w.]/g, '_'));
      await writeImage({ root, reference, config, into: folder });
      folders.push(folder);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return folders;
}

/** The first group of the pattern in a file of the checkout: the one place that names a version. */
function versionOf(file: string, pattern: RegExp): string {
  const [, version] = pattern.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
  if (version === undefined) throw new CommandError(`${file} has nothing like ${String(pattern)}`);
  return version;
}

const found = (name: 'versitygw' | 'valkey' | 'postgres'): Promise<string> => resolveBinary(name, thisMachine(ROOT));

function toolOf(name: string): string {
  const path = ['/bin', '/usr/bin'].map((folder) => join(folder, name)).find((each) => existsSync(each));
  if (path === undefined) throw new CommandError(`${name} is neither in /bin nor in /usr/bin`);
  return path;
}

function one(program: string, root: string, name: string): Promise<void> {
  put(program, root, name);
  return Promise.resolve();
}

function put(file: string, root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  copyFileSync(realpathSync(file), join(root, path));
}

/** A program, or a folder's shared objects, with the libraries that the dynamic linker finds for it. */
async function withLibraries(root: string, program: string, path?: string): Promise<void> {
  if (path !== undefined) put(program, root, path);
  const { stdout } = await run('ldd', [program], { timeoutMs: 20_000 });
  for (const [, library = ''] of stdout.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(/gm))
    // Libraries that the program brings with it are in the root already.
    if (!library.startsWith(root) && !existsSync(join(root, library))) put(library, root, library);
}

/** Tools with their libraries, the users whom the chart's pods run as, and the locale of Postgres. */
async function baseSystem(root: string, tools: readonly string[]): Promise<void> {
  for (const tool of tools) await withLibraries(root, tool, join('usr/bin', tool.slice(tool.lastIndexOf('/') + 1)));
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const shell of ['bash', 'sh'])
    if (existsSync(join(root, 'usr/bin', shell))) copyFileSync(join(root, 'usr/bin', shell), join(root, 'bin', shell));
  mkdirSync(join(root, 'etc'), { recursive: true });
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0::/:/none\npostgres:x:999:999::/var/lib/postgresql:/none\nnonroot:x:65532:65532::/tmp:/none\n',
  );
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\npostgres:x:999:\nnonroot:x:65532:\n');
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}

/** Fills the root as distroless does: Node in /nodejs/bin, the C library, and no shell. */
async function fillCarrel(root: string): Promise<void> {
  await assembleImage(root);
  await baseSystem(root, []);
  await withLibraries(root, process.execPath, 'nodejs/bin/node');
  // Distroless has the C library as a whole; native packages load more of it than Node does.
  for (const libc of globSync('lib*/**/libc.so.6', { cwd: root }))
    for (const name of ['librt.so.1', 'libresolv.so.2', 'libutil.so.1']) {
      const library = join('/', dirname(libc), name);
      if (existsSync(library)) put(library, root, library);
    }
}

/** Returns the configuration that the last stage of the Dockerfile states. */
function carrelConfig(): ImageConfig {
  const instructions = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).at(-1)?.instructions ?? [];
  const values = (wanted: string): string[] => instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest);
  const last = (wanted: string): string => values(wanted).at(-1) ?? '';
  return {
    Env: values('ENV'),
    User: last('USER'),
    WorkingDir: last('WORKDIR'),
    Entrypoint: JSON.parse(last('ENTRYPOINT')) as string[],
    Cmd: JSON.parse(last('CMD')) as string[],
  };
}

async function fillPostgres(root: string, psql: string): Promise<void> {
  await baseSystem(root, SHELL_TOOLS.map(toolOf));
  const server = dirname(dirname(await found('postgres')));
  if (!existsSync(join(server, 'share')))
    throw new CommandError(`the folder ${server} has Postgres in parts. Run npm install without --omit=dev.`);
  const to = join(root, 'usr/lib/postgresql');
  cpSync(server, to, { recursive: true, verbatimSymlinks: true });
  for (const file of globSync(['bin/*', 'lib/**/*.so*'], { cwd: to })) await withLibraries(root, join(to, file));
  for (const client of ['psql', 'pg_isready']) await withLibraries(root, join(dirname(psql), client), join('usr/bin', client));
  put(join(import.meta.dirname, 'postgres.sh'), root, 'usr/local/bin/docker-entrypoint.sh');
  chmodSync(join(root, 'usr/local/bin/docker-entrypoint.sh'), 0o755);
  const locale = '/usr/lib/locale/C.utf8';
  if (existsSync(locale)) cpSync(locale, join(root, locale), { recursive: true });
}
