import type { JWTPayload } from 'jose';
import { LTI, requireParties, requireTimes, storable } from '../launch/id-token.ts';
import { LaunchError } from '../launch-error.ts';
import { CONTEXT_COPY, NOTICE_TYPES, type NoticeType } from './notice-types.ts';

const ORIGINS_MAX = 100;

/** A notice with the values that the platform signed. */
export interface Notice {
  readonly id: string;
  readonly type: NoticeType;
  readonly deploymentId: string;
  /** Time of the event according to the platform. */
  readonly noticedAt: Date | null;
  /** For a copied course: the new course, and those that it is a copy of. */
  readonly contextId: string | null;
  readonly origins: readonly string[];
}

/**
 * Checks every rule on the claims of a notice, each with its own code. A notice is verified like an id_token; since it has no
 * login, its nonce binds nothing, and the notice's id makes it count once. Throws LaunchError.
 */
export function requireNotice(
  claims: JWTPayload,
  expected: { readonly issuer: string; readonly clientId: string; readonly now: Date },
): Notice {
  requireParties(claims, expected);
  requireTimes(claims, Math.floor(expected.now.getTime() / 1000));
  if (claims[`${LTI}/version`] !== '1.3.0') throw new LaunchError('version_unsupported');
  const deploymentId = storable(claims[`${LTI}/deployment_id`]);
  if (deploymentId === '') throw new LaunchError('deployment_id_missing');
  const { id: said, type, timestamp } = (claims[`${LTI}/notice`] ?? {}) as Record<string, unknown>;
  const id = storable(said);
  if (id === '') throw new LaunchError('notice_id_missing');
  if (typeof type !== 'string' || type === '') throw new LaunchError('notice_type_missing');
  const known = NOTICE_TYPES.find((one) => one === type);
  if (known === undefined) throw new LaunchError('notice_type_unsupported');
  const noticedAt = new Date(typeof timestamp === 'string' ? timestamp : Number.NaN);
  const notice = { id, type: known, deploymentId, noticedAt: Number.isNaN(noticedAt.getTime()) ? null : noticedAt };
  return known === CONTEXT_COPY ? { ...notice, ...copyOf(claims) } : { ...notice, contextId: null, origins: [] };
}

/** A platform that does not know which courses this one is a copy of omits the list (Canvas). */
function copyOf(claims: JWTPayload): Pick<Notice, 'contextId' | 'origins'> {
  const contextId = storable((claims[`${LTI}/context`] as { id?: unknown } | null | undefined)?.id);
  if (contextId === '') throw new LaunchError('notice_context_missing');
  const said = claims[`${LTI}/origin_contexts`] ?? [];
  if (!Array.isArray(said) || said.length > ORIGINS_MAX) throw new LaunchError('notice_origins_invalid');
  const origins = (said as unknown[]).map((origin) => storable(origin));
  if (origins.includes('')) throw new LaunchError('notice_origins_invalid');
  return { contextId, origins };
}
