import type { RequestInfo } from '../../api/endpoint.ts';
import { Problem } from '../../api/problem.ts';

/**
 * Refuses requests with the cookie that come from other sites. A page of a neighbour under the same domain can make the browser
 * send the cookie. It can send neither JSON nor our origin with it. `secure`: the tenant's address is https. Throws `forbidden`.
 */
export function requireOwnPage({ headers }: Pick<RequestInfo, 'headers'>, { secure }: { readonly secure: boolean }): void {
  const isJson = /^application\/json\b/i.test(headers['content-type'] ?? '');
  const isSameOrigin =
    headers['sec-fetch-site'] === 'same-origin' || headers.origin === `http${secure ? 's' : ''}://${headers.host}`;
  if (!isJson && !isSameOrigin)
    throw new Problem('forbidden', 'Cross-site requests cannot use the cookie. Send Content-Type: application/json.');
}
