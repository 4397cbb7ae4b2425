import { expect, test } from '@jest/globals';
import { NAMESPACE } from '../../kube/kinds.ts';
import { Store } from '../../kube/store.ts';
import { TENANT } from '../kinds.ts';
import { TenantReconciler } from './tenant.controller.ts';
import { tenantWith } from '../../../test/support/cluster/tenant-resources.ts';

test('a Tenant in a terminating namespace is not touched, and reconciled again', async () => {
  const tenants = new Store({ kind: TENANT });
  tenants.upsert(tenantWith());
  const namespaces = new Store({ kind: NAMESPACE });
  const { metadata } = tenantWith();
  namespaces.upsert({
    metadata: { ...metadata, name: metadata.namespace, namespace: '', deletionTimestamp: '2026-01-01T00:00:00Z' },
  });
  // Whatever else the reconciler asks for fails the test.
  const untouchable = new Proxy({}, { get: (_, name) => expect(name).toBe('untouched') });
  const others = ['conditions', 'finalizer', 'steps', 'usages', 'clock'];
  const deps = {
    ...Object.fromEntries(others.map((name) => [name, untouchable])),
    tenants: { api: untouchable, store: tenants },
    namespaces,
  };
  const reconciler = new TenantReconciler(deps as unknown as ConstructorParameters<typeof TenantReconciler>[0]);

  const result = await reconciler.reconcile({ namespace: 'schools', name: 'north' }, new AbortController().signal);

  expect(result).toEqual({ requeueAfterMs: 1_000 });
});
