import type { IncomingMessage } from 'node:http';
import { invalid, Problem } from '../../api/problem.ts';

/** Returns the refusal of a malformed request: Host must be sent once (RFC 9112 §3.2). */
export function refusalOf({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): Problem | undefined {
  if (headers.host === undefined ? httpVersion !== '1.0' : headers.host.includes(','))
    return invalid('Host', 'must be sent once');
  return undefined;
}

/**
 * X-Tenant-ID, when sent, must name the tenant by slug or number (docs/design/tenancy-and-isolation.md, Identity of a tenant).
 * Throws Problem `tenant_mismatch`.
 */
export function requireTenant({ headers }: Pick<IncomingMessage, 'headers'>, tenant: { slug: string; id: string }): void {
  const named = headers['x-tenant-id'];
  if (named !== undefined && named !== tenant.slug && named !== tenant.id) throw new Problem('tenant_mismatch');
}
