import { expect, test } from '@jest/globals';
import { TenantFinalizer } from './finalizer.ts';
import { tenantWith } from './tenant.fixture.ts';

test('a deletion that was told to stop while objects were removed touches nothing else of that name', async () => {
  const stopping = new AbortController();
  const touched: string[] = [];
  const touch = (what: string) => () => Promise.resolve(void touched.push(what));
  const claimed = { tenantId: '1', slug: 'north', shard: 'main', state: 'deleting', hosts: [] };
  const storage = {
    removeBucketWithUser: async () => {
      stopping.abort(new Error('leadership was lost'));
      return true;
    },
  };
  const deps = {
    owned: {},
    pods: { list: async () => [] },
    claims: { claimed: async () => [claimed] },
    migrations: { forget() {} },
    storage,
    redis: { remove: touch('Redis user') },
    shards: {
      registry: async () => ({
        markDeleting: async () => {},
        getSecret: async () => null,
        hasBucket: async () => true,
        remove: touch('registry'),
      }),
      open: async () => ({ shard: { dropTenant: touch('schema') } }),
    },
    statusWriter: { write: touch('status') },
  } as unknown as ConstructorParameters<typeof TenantFinalizer>[0];
  const tenant = tenantWith();
  const deleted = { ...tenant, metadata: { ...tenant.metadata, finalizers: ['carrel.dev/operator'] } };

  await expect(new TenantFinalizer(deps).finalize(deleted, stopping.signal)).rejects.toThrow('leadership was lost');

  expect(touched).toEqual([]);
});
