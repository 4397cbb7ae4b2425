import type { IncomingMessage } from 'node:http';
import { invalid, Problem } from '../../api/problem.ts';

/**
 * Why a request cannot be for this server, whatever it asks: Host must stand once (RFC 9112 §3.2); X-Tenant-ID, when sent, must name the
 * tenant by slug or number (design: section 3); a suspended tenant is closed at the door, its data stay (design: section 4.2).
 */
export function refusalOf(
  { headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>,
  tenant: { slug: string; id: string; suspended: boolean },
): Problem | undefined {
  if (headers.host === undefined ? httpVersion !== '1.0' : headers.host.includes(',')) return invalid('Host', 'must be sent once');
  const named = headers['x-tenant-id'];
  if (named !== undefined && named !== tenant.slug && named !== tenant.id) return new Problem('tenant_mismatch');
  if (tenant.suspended) return new Problem('suspended', undefined, { retryAfter: 60 });
  return undefined;
}
