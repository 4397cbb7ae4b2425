import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Namespace } from '../../../pkg/kube/kinds.ts';
import type { Store } from '../../../pkg/kube/store.ts';
import type { Tenant } from '../../../pkg/operator/kinds.ts';
import { readShards, Shards } from '../../../pkg/operator/shards.ts';
import { TenantAccess } from '../../../pkg/operator/tenant-rows.ts';
import { tenantWith } from '../../support/cluster/tenant-resources.ts';
import { systemClock as clock } from '../../../pkg/runtime/clock.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { parseSealingKeys, Sealer } from '../../../pkg/runtime/sealing.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { unique } from '../../support/cluster/operator.ts';

let shards: Shards;
const platformKeys = () => parseSealingKeys(testBackends().stores.platformKeys);

beforeAll(() => {
  const sealer = new Sealer(platformKeys(), random);
  shards = new Shards({ shards: readShards(testBackends().stores.shardsDir), sealer, clock, random, log });
});
afterAll(() => shards.close());

test('a namespace recreated under its name reaches no rows of the former one, whatever its Tenant’s status says', async () => {
  const slug = unique();
  const owner = { namespace: 'schools', namespaceUid: 'former', name: 'north' };
  const { tenantId } = await (await shards.registry()).claim({ slug, owner, hosts: [], shards: shards.names });
  const condition = {
    type: 'DatabaseReady',
    status: 'True' as const,
    reason: 'Migrated',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const tenant = tenantWith({ slug }, { tenantId, schemaVersion: 'x', conditions: [condition] });
  const accessOf = (uid: string): TenantAccess => {
    const namespaces = new Map([['schools', { metadata: { name: 'schools', uid } }]]);
    const store = { get: ({ name }: { name: string }) => namespaces.get(name) } as unknown as Store<Namespace>;
    return new TenantAccess({
      tenants: { get: () => tenant } as unknown as Store<Tenant>,
      namespaces: store,
      shards,
      platformKeys: platformKeys(),
      random,
    });
  };

  await expect(accessOf('anew').open(tenant)).rejects.toMatchObject({ reason: 'WaitingForTenant' });
  expect(await accessOf('anew').openToRemove(tenant)).toBeUndefined();
  expect(await accessOf('former').open(tenant)).toMatchObject({ slug, tenantId });
  await (await shards.registry()).remove(tenantId);
});
