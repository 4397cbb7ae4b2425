import type { Executor } from '../../store/postgres/database.ts';
import { sha256Hex } from '../../runtime/sha256.ts';
import { LaunchError, type LaunchErrorCode } from '../launch-error.ts';

/** The refusals that a response meets after it has already launched: its cookie was deleted, or time has passed. */
const REPLAYED = new Set<LaunchErrorCode>([
  'state_not_bound',
  'state_expired',
  'storage_forged',
  'id_token_expired',
  'launch_used',
]);

const USED = `
  SELECT CASE WHEN launch_token = $2 THEN return_url END AS "returnUrl" FROM lti_launches WHERE state_token = $1`;

/**
 * Returns the refusal that the person should read: a response that launched before is `launch_used`, whatever the actual refusal
 * (Back, a reload). A sender of that launch's exact id_token already has the way back in it, so the refusal offers it. At most
 * one statement.
 */
export async function refusalOfReplay(
  sql: Executor,
  { state, idToken }: { state: string | undefined; idToken: string | undefined },
  refusal: unknown,
): Promise<unknown> {
  if (!(refusal instanceof LaunchError) || !REPLAYED.has(refusal.code) || !state) return refusal;
  const [used] = await sql.prepared<{ returnUrl: string | null }>('lti-used', USED, [
    sha256Hex(state),
    idToken?.includes('\0') ? '' : (idToken ?? ''),
  ]);
  return used ? new LaunchError('launch_used', undefined, { cause: refusal, wayBack: used.returnUrl ?? undefined }) : refusal;
}
