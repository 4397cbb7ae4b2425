import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { readIfThere, writeAtomically } from '../files.ts';
import { addressOf, paths, type StateDirectory } from '../state-directory.ts';
import type { ProgramSpec } from '../supervisor.ts';

const ADMIN = 'carrel_admin';

/** Valkey with users in a file (`ACL SAVE` keeps those that the operator makes), no access without one, and no eviction. */
export function valkeySpec(stateDirectory: StateDirectory, program: string, options: { durable: boolean }): ProgramSpec {
  const folder = join(paths(stateDirectory.path).data, 'valkey');
  const users = join(folder, 'users.acl');
  const settings = {
    bind: stateDirectory.settings.address,
    port: stateDirectory.settings.ports.valkey,
    dir: folder,
    aclfile: users,
    appendonly: 'yes',
    ...(options.durable ? {} : { appendfsync: 'no' }),
    'maxmemory-policy': 'noeviction',
    maxmemory: '512mb',
    daemonize: 'no',
    // A title of its own overwrites the environment in /proc, by which what a killed supervisor left behind is found.
    'set-proc-title': 'no',
  };
  return {
    name: 'valkey',
    command: program,
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    after: [],
    prepare: () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      assertAdministrator(users, stateDirectory.settings.secrets.valkeyAdmin);
    },
    ready: () => ping(stateDirectory),
  };
}

/** Keeps existing users, complete lines only, and sets the administrator's password and the disabled default user. */
export function assertAdministrator(file: string, password: string): void {
  const hash = createHash('sha256').update(password).digest('hex');
  const wanted = ['user default off nopass sanitize-payload resetchannels -@all', `user ${ADMIN} on #${hash} ~* &* +@all`];
  const others = (readIfThere(file) ?? '')
    .split('\n')
    .filter((line) => /^user \S+ (on|off) /.test(line) && !/^user (default|carrel_admin) /.test(line));
  writeAtomically(file, `${[...wanted, ...others].join('\n')}\n`);
}

async function ping(stateDirectory: StateDirectory): Promise<void> {
  const redis = new Redis(valkeyUrl(stateDirectory), {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => {}); // connect() rejects with it
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}

/** CARREL_REDIS_ADMIN_URL of operator and worker. */
export const valkeyUrl = (stateDirectory: StateDirectory): string =>
  `redis://${ADMIN}:${stateDirectory.settings.secrets.valkeyAdmin}@${addressOf(stateDirectory, 'valkey')}`;
