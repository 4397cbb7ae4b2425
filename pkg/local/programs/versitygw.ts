import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from '../../runtime/command-error.ts';
import { addressOf, paths, type StateDirectory } from '../state-directory.ts';
import { lastLine, run } from '../binaries/run.ts';
import type { ProgramSpec } from '../supervisor.ts';
import { outsideFolder, unprivileged, serviceUser, type UnprivilegedProgram } from './unprivileged.ts';

const S3_REGION = 'us-east-1';
/** Not `carrel-…`, which is the prefix of tenants' keys, and a tenant may well be called `admin`. */
const ROOT = 'root';

/**
 * versitygw: S3 over a folder, users in a folder beside it, the admin interface on a port of its own; the build of
 * hack/binaries/versitygw. It keeps an object's metadata in extended attributes of user.*. Without them it refuses to start, and
 * `--sidecar` would not survive a crash. If root starts it, it runs as a service user, since a vulnerability in it must not reach
 * the whole machine. If there is no such user, or root may not become that user, it runs in a user namespace (`unprivileged`).
 * That removes its privileges but leaves it the files of root.
 */
export async function versitygwSpec(stateDirectory: StateDirectory, program: string): Promise<ProgramSpec> {
  const inStateDirectory = join(paths(stateDirectory.path).data, 's3');
  const user = await serviceUser();
  const runAs: UnprivilegedProgram = user
    ? { prefix: [], ...user, program, data: inStateDirectory }
    : await unprivileged(program, inStateDirectory);
  const { data } = runAs;
  const users = `${data}-users`;
  // Root enters the folder before the service user gets it, so no path from the outside is needed: the state directory may be
  // accessible only to root.
  const names = user
    ? { program: '../versitygw', data: '/proc/self/cwd', users: '../s3-users' }
    : { program: runAs.program, data, users };
  const listen = ['--port', addressOf(stateDirectory, 's3'), '--admin-port', addressOf(stateDirectory, 's3Admin')];
  const [command, ...args] = [...runAs.prefix, names.program, ...listen, '--region', S3_REGION, '--iam-dir', names.users];
  return {
    name: 'versitygw',
    command,
    args: [...args, '--keep-alive', '--quiet', 'posix', names.data],
    ...(user ? { cwd: data } : {}),
    ...(runAs.uid === undefined || runAs.gid === undefined ? {} : { uid: runAs.uid, gid: runAs.gid }),
    env: { ROOT_ACCESS_KEY: ROOT, ROOT_SECRET_KEY: stateDirectory.settings.secrets.s3Secret },
    after: [],
    prepare: async () => {
      const folder = outsideFolder(inStateDirectory);
      const outside = join(folder, 'data', 's3');
      // Anybody can create a folder with that name.
      const isOurs = lstatSync(folder, { throwIfNoEntry: false })?.uid === 0;
      for (const end of ['', '-users'])
        if (data !== inStateDirectory) await move(`${inStateDirectory}${end}`, `${data}${end}`);
        else if (isOurs) await move(`${outside}${end}`, `${inStateDirectory}${end}`);
      for (const folder of [data, users]) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        await chownTo(runAs, folder);
      }
      if (user) provide(program, dirname(data));
    },
    ready: async (signal) => {
      // The request is unsigned, so it is refused; an answer is enough.
      const answers = await Promise.all(
        ['s3', 's3Admin'].map((port) => fetch(`http://${addressOf(stateDirectory, port as 's3' | 's3Admin')}/`, { signal })),
      );
      for (const answer of answers) await answer.body?.cancel();
    },
    explain: (log) =>
      log.includes('xattr')
        ? `the file system of ${data} keeps no extended attributes (user.*), which versitygw needs. ` +
          'Set CARREL_HOME to a folder on one that does (ext4, xfs, btrfs, APFS; tmpfs from Linux 6.6)'
        : undefined,
  };
}

/** Moves objects of an earlier start, with their attributes, to the present location. */
async function move(from: string, to: string): Promise<void> {
  if (!existsSync(from) || existsSync(to)) return;
  rmSync(`${to}.new`, { recursive: true, force: true });
  const { code, output } = await run('cp', ['-a', from, `${to}.new`]);
  if (code !== 0) throw new CommandError(`objects cannot be moved from ${from} to ${to}: ${lastLine(output)}`);
  renameSync(`${to}.new`, to);
  rmSync(from, { recursive: true, force: true });
}

/**
 * Gives everything in the folder to the user; the folder itself last, so that a folder that belongs to the user needs nothing.
 */
async function chownTo({ uid = 0, gid = 0 }: UnprivilegedProgram, folder: string): Promise<void> {
  if (process.getuid?.() !== 0 || statSync(folder).uid === uid) return;
  for (const name of readdirSync(folder)) {
    // Changes the links themselves and does not follow them: their writer may not be trusted.
    const { code, output } = await run('chown', ['-hR', `${uid}:${gid}`, join(folder, name)]);
    if (code !== 0) throw new CommandError(`${folder} cannot be given to user ${uid}: ${lastLine(output)}`);
  }
  chownSync(folder, uid, gid);
}

/** Copies the program, owned by root, beside the data: a user may not reach its original location. */
function provide(program: string, folder: string): void {
  chmodSync(folder, statSync(folder).mode | 0o011);
  const copy = join(folder, 'versitygw');
  rmSync(`${copy}.new`, { force: true });
  copyFileSync(program, `${copy}.new`, constants.COPYFILE_FICLONE);
  chmodSync(`${copy}.new`, 0o755);
  renameSync(`${copy}.new`, copy);
}

/** CARREL_S3_* of operator and worker. */
export const s3Access = (stateDirectory: StateDirectory) => ({
  endpoint: `http://${addressOf(stateDirectory, 's3')}`,
  adminEndpoint: `http://${addressOf(stateDirectory, 's3Admin')}`,
  region: S3_REGION,
  accessKeyId: ROOT,
  secretAccessKey: stateDirectory.settings.secrets.s3Secret,
});
