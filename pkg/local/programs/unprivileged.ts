import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import { run, lastLine } from '../binaries/run.ts';
import { CommandError } from '../../runtime/command-error.ts';

/** The user of a store, and its program and data folder: Postgres refuses to run as root, and S3 must not. */
export interface UnprivilegedProgram {
  /** Put before the program. */
  readonly prefix: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
  readonly program: string;
  readonly data: string;
}

const USER_NAMESPACE = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];

/**
 * Chooses the user of a store. If we are not root, it is our own user. For root on Linux, the program runs in a user namespace
 * where it calls itself user 1000 and has no privileges. To the machine it is still root: the files belong to root, and it can
 * read and write everything that root owns, such as a 0700 state directory. If the kernel refuses that, it runs as `postgres` or
 * `nobody`. Its data, and its programs if that user cannot reach them, are then in a folder of /var/tmp named after the state
 * directory. `release` is the folder with everything that the program needs. Throws CommandError if nothing works.
 */
export async function unprivileged(program: string, data: string, release = dirname(program)): Promise<UnprivilegedProgram> {
  if (process.getuid?.() !== 0) return { prefix: [], program, data };
  const [command = '', ...args] = USER_NAMESPACE;
  const tried = await run(command, [...args, program, '--version'], { timeoutMs: 10_000 });
  if (tried.code === 0) return { prefix: USER_NAMESPACE, program, data };
  return asServiceUser(program, data, release, lastLine(tried.output));
}

/** Returns, for root on Linux, an unprivileged user that root can switch to. */
export async function serviceUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const user = await serviceIds();
  return user && (await run('true', [], { ...user, cwd: '/', timeoutMs: 5_000 })).code === 0 ? user : undefined;
}

/** For root on a kernel without user namespaces; exported for its test. */
export async function asServiceUser(program: string, data: string, release: string, why: string): Promise<UnprivilegedProgram> {
  const name = basename(program);
  const user = await serviceIds();
  if (!user)
    throw new CommandError(
      `${name} does not run as root, unshare --user failed (${why}), and there is no user postgres or nobody. ` +
        'Run as another user.',
    );
  const folder = outsideFolder(data);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755);
  const own = join(folder, 'data');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  chownSync(own, user.uid, user.gid);
  return { prefix: [], ...user, program: await reachable(program, release, folder, user), data: join(own, basename(data)) };
}

/** Returns the folder for data that a store without root cannot keep in the state directory; `carrel clean` removes it. */
export const outsideFolder = (data: string): string =>
  join('/var/tmp', `carrel-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`);

async function reachable(program: string, release: string, folder: string, user: { uid: number; gid: number }): Promise<string> {
  if ((await run(program, ['--version'], { ...user, timeoutMs: 10_000 })).code === 0) return program;
  const name = basename(program);
  // Named after the release: another release is copied beside it.
  const copy = join(folder, `${name}-${createHash('sha256').update(release).digest('hex').slice(0, 12)}`);
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true });
    cpSync(release, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    chmodSync(`${copy}.new`, 0o755);
    renameSync(`${copy}.new`, copy);
  }
  const copied = join(copy, relative(release, program));
  const { code, output } = await run(copied, ['--version'], { ...user, timeoutMs: 10_000 });
  if (code !== 0)
    throw new CommandError(`${name} runs neither as root nor as user ${user.uid} (${lastLine(output)}). Run as another user.`);
  return copied;
}

const serviceIds = async (): Promise<{ uid: number; gid: number } | undefined> =>
  (await userIds('postgres')) ?? (await userIds('nobody'));

async function userIds(name: string): Promise<{ uid: number; gid: number } | undefined> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => (await run('id', [flag, name], { timeoutMs: 5_000 })).stdout.trim()),
  );
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
