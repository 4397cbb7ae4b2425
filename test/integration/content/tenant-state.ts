import type { TestTenant } from '../../support/server.ts';

/** How many objects lie in the tenant's bucket. */
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
