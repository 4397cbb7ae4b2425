import { expect, test } from '@jest/globals';
import { Store } from '../../kube/store.ts';
import { TENANT } from '../kinds.ts';
import { TenantReconciler } from './tenant.controller.ts';
import { tenantWith } from './tenant.fixture.ts';

test('a Tenant in a terminating namespace is not touched, and looked at again: the namespace may have been made anew', async () => {
  const store = new Store({ kind: TENANT });
  store.upsert(tenantWith());
  const untouchable = { tenants: { api: {}, store }, claims: { isTerminating: () => true } } as unknown;
  const reconciler = new TenantReconciler(untouchable as ConstructorParameters<typeof TenantReconciler>[0]);

  const result = await reconciler.reconcile({ namespace: 'schools', name: 'north' }, new AbortController().signal);

  expect(result).toEqual({ requeueAfterMs: 1_000 });
});
