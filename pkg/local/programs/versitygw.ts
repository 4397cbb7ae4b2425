import { chownSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LocalError } from '../errors.ts';
import { addressOf, paths, type Home } from '../home.ts';
import { lastLine, run } from '../parts/run.ts';
import type { ProgramSpec } from '../supervisor.ts';
import { seatOf, type Seat } from './unprivileged.ts';

export const S3_REGION = 'us-east-1';
/** No `carrel-…`: that is what tenants' keys are called, and a tenant may well be called `admin`. */
const ROOT = 'root';

/**
 * versitygw: S3 over a folder, users in a folder beside it, the admin interface on a port of its own; the build of hack/parts/versitygw.
 * It keeps an object's metadata in extended attributes of user.*; without them it refuses to start, and `--sidecar` would not survive a
 * crash. It never runs as root: a hole in it must not reach the whole machine.
 */
export async function versitygwSpec(home: Home, program: string): Promise<ProgramSpec> {
  const inHome = join(paths(home.path).data, 's3');
  const seat = await seatOf(program, inHome);
  const { data } = seat;
  const users = `${data}-users`;
  const listen = ['--port', addressOf(home, 's3'), '--admin-port', addressOf(home, 's3Admin')];
  const [command, ...args] = [...seat.prefix, seat.program, ...listen, '--region', S3_REGION, '--iam-dir', users];
  return {
    name: 'versitygw',
    command,
    args: [...args, '--keep-alive', '--quiet', 'posix', data],
    ...(seat.uid === undefined || seat.gid === undefined ? {} : { uid: seat.uid, gid: seat.gid }),
    env: { ROOT_ACCESS_KEY: ROOT, ROOT_SECRET_KEY: home.settings.secrets.s3Secret },
    after: [],
    prepare: async () => {
      if (data !== inHome) await moveOut(inHome, seat);
      for (const folder of [data, users]) mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (seat.uid !== undefined && seat.gid !== undefined) for (const folder of [data, users]) chownSync(folder, seat.uid, seat.gid);
    },
    ready: async (signal) => {
      // Unsigned, so refused: it answers, which is all that is asked.
      const answers = await Promise.all(
        ['s3', 's3Admin'].map((port) => fetch(`http://${addressOf(home, port as 's3' | 's3Admin')}/`, { signal })),
      );
      for (const answer of answers) await answer.body?.cancel();
    },
    explain: (log) =>
      log.includes('xattr')
        ? `the file system of ${data} keeps no extended attributes (user.*), which versitygw needs. Set CARREL_HOME to a folder on one that does (ext4, xfs, btrfs, APFS; tmpfs from Linux 6.6)`
        : undefined,
  };
}

/** Objects that root kept in the home go, with their attributes, to where the service user can have them. */
async function moveOut(inHome: string, seat: Seat): Promise<void> {
  for (const end of ['', '-users']) {
    const [from, to] = [`${inHome}${end}`, `${seat.data}${end}`];
    if (!existsSync(from) || existsSync(to)) continue;
    rmSync(`${to}.new`, { recursive: true, force: true });
    for (const [command, ...args] of [
      ['cp', '-a', from, `${to}.new`],
      ['chown', '-R', `${seat.uid}:${seat.gid}`, `${to}.new`],
    ] as const) {
      const { code, output } = await run(command, args);
      if (code !== 0) throw new LocalError(`objects cannot be moved from ${from} to ${to}: ${lastLine(output)}`);
    }
    renameSync(`${to}.new`, to);
    rmSync(from, { recursive: true, force: true });
  }
}

/** CARREL_S3_* of operator and worker. */
export const s3Access = (home: Home) => ({
  endpoint: `http://${addressOf(home, 's3')}`,
  adminEndpoint: `http://${addressOf(home, 's3Admin')}`,
  region: S3_REGION,
  accessKeyId: ROOT,
  secretAccessKey: home.settings.secrets.s3Secret,
});
