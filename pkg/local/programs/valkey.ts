import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { readIfThere, writeAtomically } from '../files.ts';
import { addressOf, paths, type StateDirectory } from '../state-directory.ts';
import type { PortName } from '../ports.ts';
import type { ProgramSpec } from '../supervisor.ts';

const ADMIN = 'carrel_admin';

/**
 * Settings of the tenants' Valkey: its data may be dropped, and bounds limit what a tenant can make it hold
 * (docs/decisions/stores.md).
 */
const TENANTS_SETTINGS = {
  maxmemory: '256mb',
  'maxmemory-policy': 'allkeys-lfu',
  'maxmemory-clients': '64mb',
  'client-output-buffer-limit': ['normal', '32mb', '8mb', '10'],
  'client-query-buffer-limit': '8mb',
  'proto-max-bulk-len': '1mb',
};
/** Settings of the queues' Valkey: a dropped job of BullMQ is found again, but half of one would confuse it. */
const QUEUE_SETTINGS = { maxmemory: '256mb', 'maxmemory-policy': 'noeviction' };

/**
 * Valkey for caches, limits and wake-ups. The tenants' users are in a file, where `ACL SAVE` keeps those that the operator
 * creates.
 */
export const valkeySpec = (stateDirectory: StateDirectory, program: string): ProgramSpec =>
  spec(stateDirectory, program, { name: 'valkey', port: 'valkey', settings: TENANTS_SETTINGS });

/** Valkey for the queues of the workers, in which no tenant has a user. */
export const queueValkeySpec = (stateDirectory: StateDirectory, program: string): ProgramSpec =>
  spec(stateDirectory, program, { name: 'valkey-queue', port: 'valkeyQueue', settings: QUEUE_SETTINGS });

interface Kind {
  readonly name: string;
  readonly port: PortName;
  readonly settings: Readonly<Record<string, string | readonly string[]>>;
}

/** Allows no access without a user, and writes only the users to disk: Postgres has everything that must not be lost. */
function spec(stateDirectory: StateDirectory, program: string, { name, port, settings: own }: Kind): ProgramSpec {
  const folder = join(paths(stateDirectory.path).data, name);
  const users = join(folder, 'users.acl');
  const settings = {
    bind: stateDirectory.settings.address,
    port: String(stateDirectory.settings.ports[port]),
    dir: folder,
    aclfile: users,
    save: '',
    appendonly: 'no',
    ...own,
    daemonize: 'no',
    // A title of its own would overwrite the environment in /proc, which identifies leftovers of a killed supervisor.
    'set-proc-title': 'no',
  };
  const asked = (): Promise<void> => ping(urlOf(stateDirectory, port));
  return {
    name,
    command: program,
    args: Object.entries(settings).flatMap(([setting, value]) => [`--${setting}`, ...[value].flat()]),
    after: [],
    prepare: () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      assertAdministrator(users, stateDirectory.settings.secrets.valkeyAdmin);
    },
    ready: asked,
    alive: asked,
  };
}

/** Keeps existing users, complete lines only, and sets the administrator's password and the disabled default user. */
function assertAdministrator(file: string, password: string): void {
  const hash = createHash('sha256').update(password).digest('hex');
  const wanted = ['user default off nopass sanitize-payload resetchannels -@all', `user ${ADMIN} on #${hash} ~* &* +@all`];
  const others = (readIfThere(file) ?? '')
    .split('\n')
    .filter((line) => /^user \S+ (on|off) /.test(line) && !/^user (default|carrel_admin) /.test(line));
  writeAtomically(file, `${[...wanted, ...others].join('\n')}\n`);
}

async function ping(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => {}); // connect() rejects with the error.
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}

const urlOf = (stateDirectory: StateDirectory, port: PortName): string =>
  `redis://${ADMIN}:${stateDirectory.settings.secrets.valkeyAdmin}@${addressOf(stateDirectory, port)}`;

/** CARREL_REDIS_ADMIN_URL of operator and worker. */
export const valkeyUrl = (stateDirectory: StateDirectory): string => urlOf(stateDirectory, 'valkey');
/** CARREL_QUEUE_REDIS_URL of the worker. */
export const queueValkeyUrl = (stateDirectory: StateDirectory): string => urlOf(stateDirectory, 'valkeyQueue');
