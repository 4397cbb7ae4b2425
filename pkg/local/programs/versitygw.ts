import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, paths, type Home } from '../home.ts';
import type { ProgramSpec } from '../supervisor.ts';

export const S3_REGION = 'us-east-1';
/** No `carrel-…`: that is what tenants' keys are called, and a tenant may well be called `admin`. */
const ROOT = 'root';

/**
 * versitygw: S3 over a folder, users in a folder beside it, the admin interface on a port of its own. It keeps an object's metadata
 * in extended attributes of user.*; without them it refuses to start, and `--sidecar` would not survive a crash.
 */
export function versitygwSpec(home: Home, program: string): ProgramSpec {
  const data = join(paths(home.path).data, 's3');
  const users = join(paths(home.path).data, 's3-users');
  const listen = ['--port', addressOf(home, 's3'), '--admin-port', addressOf(home, 's3Admin')];
  return {
    name: 'versitygw',
    command: program,
    args: [...listen, '--region', S3_REGION, '--iam-dir', users, '--keep-alive', '--quiet', 'posix', data],
    env: { ROOT_ACCESS_KEY: ROOT, ROOT_SECRET_KEY: home.settings.secrets.s3Secret },
    after: [],
    prepare: () => {
      for (const folder of [data, users]) mkdirSync(folder, { recursive: true, mode: 0o700 });
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

/** CARREL_S3_* of operator and worker. */
export const s3Access = (home: Home) => ({
  endpoint: `http://${addressOf(home, 's3')}`,
  adminEndpoint: `http://${addressOf(home, 's3Admin')}`,
  region: S3_REGION,
  accessKeyId: ROOT,
  secretAccessKey: home.settings.secrets.s3Secret,
});
