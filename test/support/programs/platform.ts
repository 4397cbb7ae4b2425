import { execFile, spawn } from 'node:child_process';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveBinary, thisMachine } from '../../../pkg/local/binaries/resolve.ts';
import { makeScratch, ROOT } from '../backends/backends.ts';
import { freePort } from '../backends/ports.ts';
import { waitFor } from '../wait.ts';

/** The platform of this run as `carrel up` brings it up; plain data, handed to jest's workers by the environment. */
export interface Platform {
  readonly stateDirectory: string;
  readonly port: number;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const VARIABLE = 'CARREL_TEST_PLATFORM';
/** The binaries are there already: `make test` builds them first. */
const UP_LIMIT_MS = 5 * 60_000;

/**
 * The platform that the e2e lane's globalSetup brings up, once it is. Throws with the output of `carrel up` when it does not
 * come.
 */
export async function platform(): Promise<Platform> {
  const text = process.env[VARIABLE];
  if (!text) throw new Error(`${VARIABLE} is not set: run this test by jest, whose globalSetup brings the platform up`);
  const where = JSON.parse(text) as Platform;
  const failure = await waitFor('the platform of the e2e tests', () => readOutcome(where), UP_LIMIT_MS);
  if (failure.text !== '') throw new Error(failure.text);
  return where;
}

/** A new platform with a state directory that does not exist yet; remove it with `forget`. */
export const newPlatform = async (): Promise<Platform> => ({
  stateDirectory: join(await makeScratch(), 'state'),
  port: await freePort(),
});

/** Runs `carrel` on a platform and returns what it printed. Never rejects; check the exit code. */
export function carrel(where: Platform, args: readonly string[], limitMs = 600_000): Promise<Ran> {
  const env = {
    ...process.env,
    CARREL_HOME: where.stateDirectory,
    CARREL_PORT: String(where.port),
    NO_COLOR: '1',
    NODE_OPTIONS: '',
  };
  return run(process.execPath, [join(ROOT, 'cmd/carrel/main.ts'), ...args], env, limitMs);
}

/** Brings the platform up with the samples; throws with its output when it does not come. */
export async function bringUp(where: Platform, args: readonly string[] = []): Promise<Ran> {
  const ran = await carrel(where, ['up', ...args], UP_LIMIT_MS);
  if (ran.code !== 0) throw new Error(`carrel up failed with ${ran.code}:\n${ran.stdout}\n${ran.stderr}`);
  return ran;
}

/** Stops a platform and removes its state directory. */
export async function deletePlatform(where: Platform): Promise<void> {
  await carrel(where, ['clean']);
  await rm(join(where.stateDirectory, '..'), { recursive: true, force: true });
}

/**
 * jest's globalSetup of the e2e lane: begins to bring the platform up, while the first test files run. Returns a function that
 * stops the platform, once. Browsers are downloaded here, outside of any test's time limit.
 */
export async function startPlatform(): Promise<() => Promise<void>> {
  await resolveBrowser('chromium');
  // Where there is none, its tests use the whole browser.
  await resolveBrowser('chromium-headless-shell').catch(() => undefined);
  const where = await newPlatform();
  process.env[VARIABLE] = JSON.stringify(where);
  // One test alone uses Firefox. It says so where there is none.
  const firefox = resolveBrowser('firefox').catch(() => undefined);
  const up = Promise.all([bringUp(where), firefox]).then(
    () => writeOutcome(where, ''),
    (error: unknown) => writeOutcome(where, String(error)),
  );
  let stopped: Promise<void> | undefined;
  return () => (stopped ??= up.then(() => deletePlatform(where)));
}

const resolveBrowser = (name: 'chromium' | 'chromium-headless-shell' | 'firefox'): Promise<string> =>
  resolveBinary(name, thisMachine(ROOT), (line) => void process.stderr.write(`${line}\n`));

/** The file in which `startPlatform` writes how `carrel up` ended: '' or its error. */
const outcomeFile = (where: Platform): string => join(where.stateDirectory, '..', 'up');

async function writeOutcome(where: Platform, text: string): Promise<void> {
  const file = outcomeFile(where);
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file); // whole when it is there
}

async function readOutcome(where: Platform): Promise<{ readonly text: string } | undefined> {
  try {
    return { text: await readFile(outcomeFile(where), 'utf8') };
  } catch {
    return undefined;
  }
}

/** kubectl of this platform; `input` goes to its standard input. */
export function kubectl(where: Platform, args: readonly string[], input?: string, limitMs = 120_000): Promise<Ran> {
  const env = { ...process.env, KUBECONFIG: join(where.stateDirectory, 'kubeconfig') };
  return run(join(where.stateDirectory, 'bin/kubectl'), args, env, limitMs, input);
}

/** Runs a line as somebody pastes it into a shell, where `kubectl` is that of this platform. Throws when it fails. */
export async function shellOk(where: Platform, line: string): Promise<string> {
  const env = {
    ...process.env,
    KUBECONFIG: join(where.stateDirectory, 'kubeconfig'),
    PATH: `${join(where.stateDirectory, 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  const ran = await run('sh', ['-c', line], env, 120_000);
  if (ran.code !== 0) throw new Error(`${line} failed with ${ran.code}: ${ran.stderr}`);
  return ran.stdout;
}

/** Like `kubectl`, but throws when it fails. Returns standard output. */
export async function kubectlOk(where: Platform, args: readonly string[], input?: string, limitMs?: number): Promise<string> {
  const ran = await kubectl(where, args, input, limitMs);
  if (ran.code !== 0) throw new Error(`kubectl ${args.join(' ')} failed with ${ran.code}: ${ran.stderr}`);
  return ran.stdout;
}

/**
 * Runs a line that the product shows, as somebody does who pastes it into a shell. Their editor changes each file by a script of
 * sed, whose expressions are extended ones.
 */
export async function runShown(where: Platform, line: string, edit: string, limitMs = 120_000): Promise<Ran> {
  const editor = join(await makeScratch(), 'editor');
  await writeFile(editor, `#!/bin/sh\nexec sed -E -i.before -e '${edit}' "$1"\n`, { mode: 0o755 });
  const env = {
    ...process.env,
    PATH: `${join(where.stateDirectory, 'bin')}:${process.env['PATH']}`,
    KUBECONFIG: join(where.stateDirectory, 'kubeconfig'),
    KUBE_EDITOR: editor,
  };
  return run('/bin/sh', ['-c', line], env, limitMs);
}

export const apply = (where: Platform, ...objects: readonly object[]): Promise<string> =>
  kubectlOk(where, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

export async function getJson<T>(where: Platform, ...args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectlOk(where, ['get', ...args, '-o', 'json'])) as T;
}

/** The values of a Secret, decoded. */
export async function secretValues(where: Platform, namespace: string, name: string): Promise<Record<string, string>> {
  const secret = await getJson<{ data?: Record<string, string> }>(where, 'secret', name, '-n', namespace);
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, limitMs: number, input?: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { env, timeout: limitMs, maxBuffer: 64 * 2 ** 20, cwd: ROOT },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number')
          reject(new Error(`${program} ${args.join(' ')}: ${error.message}\n${stderr}`, { cause: error }));
        else resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      },
    );
    if (input !== undefined) child.stdin?.end(input);
    else child.stdin?.end();
  });
}

/** A `kubectl logs -f` or the like in the background; `stop` ends it. */
export function kubectlFollow(where: Platform, args: readonly string[]): { output: () => string; stop: () => void } {
  const child = spawn(join(where.stateDirectory, 'bin/kubectl'), args, {
    env: { ...process.env, KUBECONFIG: join(where.stateDirectory, 'kubeconfig') },
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  return { output: () => text, stop: () => void child.kill() };
}
