import { expect, test } from '@jest/globals';
import type { KubeClient } from '../kube/transport.ts';
import { CommandError } from '../runtime/command-error.ts';
import { type Access, installationOf, requireKeys, type StoreSettings } from './installation.ts';

const HERE_STORES: StoreSettings = {
  shardsDir: '/here/shards',
  platformKeys: [{ id: 'local', key: Buffer.alloc(32) }],
  redisUrl: 'redis://here:6379',
  queueRedisUrl: undefined,
  objectStore: undefined,
  egressAllow: [],
};
const HERE_CLUSTER = {} as KubeClient;
const here: Access = { stores: async () => HERE_STORES, cluster: async () => HERE_CLUSTER };
/** Fails if it is used. */
const nowhere: Access = {
  stores: () => Promise.reject(new Error('the platform on this machine was asked for its stores')),
  cluster: () => Promise.reject(new Error('the platform on this machine was asked for its cluster')),
};
const KEYS = `k1:${Buffer.alloc(32, 1).toString('base64')}`;

test('the platform on this machine supplies what the environment does not name; an empty value names nothing', async () => {
  const installation = installationOf({ CARREL_SHARDS_DIR: '', CARREL_PLATFORM_KEYS: 'not read' }, here);

  expect([await installation.stores(), await installation.cluster()]).toEqual([HERE_STORES, HERE_CLUSTER]);
  expect(installation).toMatchObject({ tenantNamespaces: [], operatorNamespace: 'carrel-system', maxTenantsPerShard: 1000 });
});

test('an installation that the environment names is read with the settings of the operator and worker pods', async () => {
  const installation = installationOf(
    {
      CARREL_SHARDS_DIR: '/etc/carrel/shards',
      CARREL_PLATFORM_KEYS: `${KEYS}\n`,
      CARREL_REDIS_ADMIN_URL: 'rediss://admin:secret@redis:6380',
      CARREL_QUEUE_REDIS_URL: 'redis://queues:6379',
      CARREL_S3_ENDPOINT: 'https://s3.example',
      CARREL_S3_ACCESS_KEY_ID: 'admin',
      CARREL_S3_SECRET_ACCESS_KEY: 'secret',
      CARREL_TENANT_NAMESPACES: 'north, south',
      CARREL_LEADER_ELECTION_NAMESPACE: 'files',
      CARREL_MAX_TENANTS_PER_SHARD: '7',
    },
    nowhere,
  );

  expect(await installation.stores()).toEqual({
    shardsDir: '/etc/carrel/shards',
    platformKeys: [{ id: 'k1', key: Buffer.alloc(32, 1) }],
    redisUrl: 'rediss://admin:secret@redis:6380',
    queueRedisUrl: 'redis://queues:6379',
    objectStore: { endpoint: 'https://s3.example', region: 'us-east-1', accessKeyId: 'admin', secretAccessKey: 'secret' },
    egressAllow: [],
  });
  expect(installation).toMatchObject({ tenantNamespaces: ['north', 'south'], operatorNamespace: 'files', maxTenantsPerShard: 7 });
});

test('settings that a pod lacks are undefined, and only commands that need the platform keys report them missing', async () => {
  const stores = await installationOf({ CARREL_SHARDS_DIR: '/etc/carrel/shards' }, nowhere).stores();

  expect(stores).toMatchObject({
    platformKeys: undefined,
    redisUrl: undefined,
    queueRedisUrl: undefined,
    objectStore: undefined,
  });
  expect(() => requireKeys(stores)).toThrow(
    new CommandError('CARREL_PLATFORM_KEYS is not set. Run this where the operator runs: its pod has all settings.'),
  );
  expect(() => requireKeys(stores, 'worker')).toThrow('Run this where the worker runs');
});

test('an invalid setting is named, with what to set it to; a secret is not repeated', async () => {
  const wrong = (env: NodeJS.ProcessEnv) => installationOf({ CARREL_SHARDS_DIR: '/etc/carrel/shards', ...env }, nowhere).stores();

  await expect(wrong({ CARREL_PLATFORM_KEYS: 'k9:c2hvcnQ=' })).rejects.toThrow(
    'carrel: CARREL_PLATFORM_KEYS is not valid: key k9 is not 32 bytes in base64. ' +
      'Set it to id:base64 of 32 random bytes, comma-separated; the first seals (docs/operate/settings.md).',
  );
  await expect(wrong({ CARREL_REDIS_ADMIN_URL: 'http://secret' })).rejects.toThrow(
    /^carrel: CARREL_REDIS_ADMIN_URL is not valid: must be an address\. /,
  );
  await expect(wrong({ CARREL_EGRESS_ALLOW: 'everything' })).rejects.toThrow(/^carrel: CARREL_EGRESS_ALLOW is not valid: /);
  expect(() => installationOf({ CARREL_MAX_TENANTS_PER_SHARD: 'many' }, nowhere)).toThrow(
    /^carrel: CARREL_MAX_TENANTS_PER_SHARD is not valid: must be a whole number/,
  );
});
