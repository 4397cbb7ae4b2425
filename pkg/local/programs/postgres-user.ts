import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { run, lastLine } from '../parts/run.ts';
import { LocalError } from '../errors.ts';

/** As whom Postgres runs, and with which programs and data folder: it refuses root. */
export interface PostgresSeat {
  /** Put before the program. */
  readonly prefix: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
  /** Folder of `postgres` and `initdb`. */
  readonly bin: string;
  readonly data: string;
}

const USER_NAMESPACE = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];

/**
 * Not root: as we are. Root on Linux: in a user namespace where it is user 1000 (files stay root's, and it can read a 0700 home).
 * Where the kernel refuses that, as `postgres` or `nobody`, with data – and programs, when that user cannot reach them – in a folder
 * of /var/tmp named after the home. Throws LocalError when none works.
 */
export async function seatOf(program: string, data: string): Promise<PostgresSeat> {
  const bin = dirname(program);
  if (process.getuid?.() !== 0) return { prefix: [], bin, data };
  const [command = '', ...args] = USER_NAMESPACE;
  const tried = await run(command, [...args, program, '--version'], { timeoutMs: 10_000 });
  if (tried.code === 0) return { prefix: USER_NAMESPACE, bin, data };
  return seatOfServiceUser(program, data, lastLine(tried.output));
}

/** Exported for its test: the way for a root whose kernel gives no user namespaces. */
export async function seatOfServiceUser(program: string, data: string, why: string): Promise<PostgresSeat> {
  const user = (await userIds('postgres')) ?? (await userIds('nobody'));
  if (!user)
    throw new LocalError(
      `postgres refuses to run as root, unshare --user failed (${why}), and there is no user postgres or nobody. Run as another user.`,
    );
  const folder = outsideFolder(data);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755);
  const own = join(folder, 'data');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  chownSync(own, user.uid, user.gid);
  return { prefix: [], ...user, bin: await reachable(program, folder, user), data: join(own, basename(data)) };
}

/** Where data of a home lie that root's Postgres cannot keep in it; `carrel clean` removes it. */
export const outsideFolder = (data: string): string =>
  join('/var/tmp', `carrel-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`);

async function reachable(program: string, folder: string, user: { uid: number; gid: number }): Promise<string> {
  if ((await run(program, ['--version'], { ...user, timeoutMs: 10_000 })).code === 0) return dirname(program);
  const copy = join(folder, 'postgres');
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true });
    cpSync(dirname(dirname(program)), `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.new`, copy);
  }
  const bin = join(copy, basename(dirname(program)));
  const { code, output } = await run(join(bin, 'postgres'), ['--version'], { ...user, timeoutMs: 10_000 });
  if (code !== 0)
    throw new LocalError(
      `postgres refuses to run as root, and as another user it does not run (${lastLine(output)}). Run as another user.`,
    );
  return bin;
}

async function userIds(name: string): Promise<{ uid: number; gid: number } | undefined> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => (await run('id', [flag, name], { timeoutMs: 5_000 })).stdout.trim()),
  );
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
