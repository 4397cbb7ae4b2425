import type { TestTenant } from '../../support/programs/server.ts';
import { invariantFaults } from '../../support/models/invariants.ts';

/** Returns the number of objects in the tenant's bucket. */
export async function objectCount(tenant: TestTenant): Promise<number> {
  let count = 0;
  for await (const _ of tenant.objects.list()) count += 1;
  return count;
}

/** Bytes that count to a user. */
export async function quotaOf(tenant: TestTenant, userId: string): Promise<number> {
  const [row] = await tenant.db.query<{ used: number }>('SELECT storage_used AS used FROM users WHERE uuid = $1', [userId]);
  return row?.used ?? -1;
}

/** Returns the inconsistencies of the tenant's rows and objects. Nothing may be in progress. */
export const faultsOf = (tenant: TestTenant): Promise<string[]> => invariantFaults(tenant.db, tenant.objects);
