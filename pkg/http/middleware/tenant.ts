import type { IncomingMessage } from 'node:http';
import { invalid, Problem } from '../../api/problem.ts';

/** Why a request is refused whatever it asks: Host must stand once (RFC 9112 §3.2); a suspended tenant serves nobody, its data stay (design: section 4.2). */
export function refusalOf(
  { headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>,
  tenant: { suspended: boolean },
): Problem | undefined {
  if (headers.host === undefined ? httpVersion !== '1.0' : headers.host.includes(',')) return invalid('Host', 'must be sent once');
  if (tenant.suspended) return new Problem('suspended', undefined, { retryAfter: 60 });
  return undefined;
}

/** X-Tenant-ID, when sent, must name the tenant by slug or number (design: section 3). Throws Problem `tenant_mismatch`. */
export function requireTenant({ headers }: Pick<IncomingMessage, 'headers'>, tenant: { slug: string; id: string }): void {
  const named = headers['x-tenant-id'];
  if (named !== undefined && named !== tenant.slug && named !== tenant.id) throw new Problem('tenant_mismatch');
}
