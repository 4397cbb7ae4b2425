import type { Actor } from '../api/actor.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { Problem } from '../api/problem.ts';
import type { AccessClaims, Tokens } from '../access/tokens.ts';
import type { Requester } from './admission.ts';
import { problemOf } from './middleware/errors.ts';
import type { Context } from './request-state.ts';

/** Returns the requester of a request without a token, as far as the request itself proves it. */
export function requesterWithoutToken(
  endpoint: Endpoint,
  params: { readonly success: boolean; readonly data?: unknown },
): Requester {
  const { counts = 'api' } = endpoint;
  if (typeof counts === 'string') return counts;
  const userUuid = params.success ? counts(params.data) : undefined;
  return userUuid === undefined ? 'api' : { linkOf: userUuid };
}

/** An invalid token is reported only after the request was counted. */
export async function identify(ctx: Context, tokens: Tokens): Promise<{ claims?: AccessClaims; refusal?: Problem }> {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(ctx.get('authorization')) ?? [];
  if (token === undefined)
    return { refusal: new Problem('unauthenticated', 'Send an access token: Authorization: Bearer <token>.') };
  try {
    return { claims: await tokens.verify(token) };
  } catch (error) {
    return { refusal: problemOf(error) };
  }
}

export function requireCaller(endpoint: Endpoint, actor: Actor | undefined): void {
  if (typeof endpoint.caller !== 'object') return;
  if (!actor?.permissions.has(endpoint.caller.permission))
    throw new Problem('forbidden', `Requires the permission ${endpoint.caller.permission}.`);
}
