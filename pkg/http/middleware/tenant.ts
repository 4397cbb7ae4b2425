import { Problem } from '../../api/problem.ts';

/**
 * Why a request cannot be for this server, whatever it asks: X-Tenant-ID, when sent, must name the tenant by slug or number (design: section 3);
 * a suspended tenant is closed at the door, its data stay (design: section 4.2).
 */
export function refusalOf(
  named: string | string[] | undefined,
  tenant: { slug: string; id: string; suspended: boolean },
): Problem | undefined {
  if (named !== undefined && named !== tenant.slug && named !== tenant.id) return new Problem('tenant_mismatch');
  if (tenant.suspended) return new Problem('suspended', undefined, { retryAfter: 60 });
  return undefined;
}
