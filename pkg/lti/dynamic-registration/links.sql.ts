import type { Executor, Tx } from '../../store/postgres/database.ts';
import { originParameter, withOrigin } from '../../store/postgres/origin.ts';
import type { Agreement } from '../registrations/registration-list.sql.ts';
import type { WantedRegistration } from '../registrations/wanted-registration.ts';
import { ATTEMPT_MS, OPEN_LINKS_MAX, WAITING_MAX } from './registration-limits.ts';

export interface LinkRow {
  readonly id: number;
  readonly uuid: string;
  readonly platformName: string | null;
  /** The link's creator is still an administrator. */
  readonly isBacked: boolean;
  readonly expiresAt: Date;
  readonly attempt: string | null;
  readonly attemptUntil: Date | null;
  readonly usedAt: Date | null;
  readonly issuer: string | null;
  readonly agreement: Agreement | null;
}

const BACKED = `EXISTS (SELECT FROM users u WHERE u.id = created_by AND u.is_active AND 'admin' = ANY (u.roles))`;
const LINK_COLUMNS = `id, uuid, platform_name AS "platformName", ${BACKED} AS "isBacked", expires_at AS "expiresAt", attempt,
  attempt_until AS "attemptUntil",
  used_at AS "usedAt", issuer, registered AS agreement`;

/**
 * Deletes unused links a day after they expired. Returns false if there are too many links; a few more may pass when several are
 * made at once. One statement.
 */
export async function insertLink(
  sql: Executor,
  link: { uuid: string; tokenHash: string; platformName: string | null; createdBy: number; expiresAt: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `WITH ended AS (DELETE FROM lti_registration_links WHERE used_at IS NULL AND expires_at < now() - interval '1 day')
     INSERT INTO lti_registration_links (uuid, token_hash, platform_name, created_by, expires_at) SELECT $1, $2, $3, $4, $5
     WHERE (SELECT count(*) FROM lti_registration_links WHERE used_at IS NULL AND expires_at > now()) < ${OPEN_LINKS_MAX}
       AND ${withOrigin('$6')} RETURNING id`,
    [link.uuid, link.tokenHash, link.platformName, link.createdBy, link.expiresAt, originParameter()],
  );
  return rows.length > 0;
}

export async function findLink(sql: Executor, tokenHash: string): Promise<LinkRow | undefined> {
  const [row] = await sql.query<LinkRow>(`SELECT ${LINK_COLUMNS} FROM lti_registration_links WHERE token_hash = $1`, [tokenHash]);
  return row;
}

/** Holds the link for one attempt. Returns undefined if it is used, expired or held. */
export async function holdLink(sql: Executor, tokenHash: string, attempt: string, now: Date): Promise<LinkRow | undefined> {
  const [row] = await sql.query<LinkRow>(
    `UPDATE lti_registration_links SET attempt = $2, attempt_until = $4
     WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $3 AND ${BACKED}
       AND (attempt_until IS NULL OR attempt_until <= $3) RETURNING ${LINK_COLUMNS}`,
    [tokenHash, attempt, now, new Date(now.getTime() + ATTEMPT_MS)],
  );
  return row;
}

/** Frees the link after a failed attempt; it can be used again. */
export async function releaseLink(sql: Executor, id: number, attempt: string): Promise<void> {
  await sql.query(
    'UPDATE lti_registration_links SET attempt = NULL, attempt_until = NULL WHERE id = $1 AND attempt = $2 AND used_at IS NULL',
    [id, attempt],
  );
}

/** Returns false if the attempt no longer holds the link. */
export async function useLink(
  tx: Tx,
  of: { id: number; attempt: string; now: Date; issuer: string; jwksEndpoint: string; clientId: string; agreement: Agreement },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE lti_registration_links SET used_at = $3, attempt_until = NULL, issuer = $4, client_id = $5, registered = $6,
       jwks_endpoint = $7
     WHERE id = $1 AND attempt = $2 AND used_at IS NULL RETURNING id`,
    [of.id, of.attempt, of.now, of.issuer, of.clientId, JSON.stringify(of.agreement), of.jwksEndpoint],
  );
  return rows.length > 0;
}

/** Checked before the LMS is called, so that a registration that the LMS has accepted is not refused afterwards. */
export async function hasFreeSlot(sql: Executor): Promise<boolean> {
  const [row] = await sql.query<{ isFree: boolean }>(
    `SELECT count(*) < ${WAITING_MAX} AS "isFree" FROM carrel.registration_requests WHERE tenant = current_user`,
  );
  return row?.isFree ?? false;
}

/**
 * Leaves the registration for the operator, in any free slot. Returns false if too many are waiting. A slot that another
 * registration took meanwhile is not the last one: the next statement sees which are still free.
 */
export async function requestRegistration(sql: Executor, id: string, wanted: WantedRegistration): Promise<boolean> {
  do {
    const rows = await sql.query(
      `INSERT INTO carrel.registration_requests (slot, id, wanted)
       SELECT s.slot, $1, $2 FROM generate_series(0, ${WAITING_MAX - 1}) AS s (slot)
       WHERE NOT EXISTS (SELECT FROM carrel.registration_requests r WHERE r.tenant = current_user AND r.slot = s.slot)
       ORDER BY random() LIMIT 1
       ON CONFLICT DO NOTHING RETURNING slot`,
      [id, JSON.stringify(wanted)],
    );
    if (rows.length > 0) return true;
  } while (await hasFreeSlot(sql));
  return false;
}

export type LmsEndpoints = Pick<WantedRegistration, 'authEndpoint' | 'tokenEndpoint' | 'tokenAudience'>;

export type Lms = Pick<WantedRegistration, 'issuer' | 'jwksEndpoint'>;

/** Returns the endpoints of the tenant's platform for this LMS, if a registration uses it. */
export async function endpointsOfLms(sql: Executor, { issuer, jwksEndpoint }: Lms): Promise<LmsEndpoints | undefined> {
  const [row] = await sql.query<LmsEndpoints>(
    `SELECT auth_endpoint AS "authEndpoint", token_endpoint AS "tokenEndpoint", token_audience AS "tokenAudience"
     FROM lti_platforms p WHERE issuer = $1 AND jwks_endpoint = $2
       AND EXISTS (SELECT FROM lti_tools t WHERE t.platform_id = p.id)`,
    [issuer, jwksEndpoint],
  );
  return row;
}

/**
 * Says whether a registration, or one that waits for the operator, already has this client id: at this LMS (`isTaken`), or at
 * another with the same issuer (`isShared`).
 */
export interface ClientIdUse {
  readonly isTaken: boolean;
  readonly isShared: boolean;
}

export async function useOfClientId(sql: Executor, { issuer, jwksEndpoint }: Lms, clientId: string): Promise<ClientIdUse> {
  const [use] = await sql.query<ClientIdUse>(
    `SELECT coalesce(bool_or(u.jwks = $3), false) AS "isTaken", coalesce(bool_or(u.jwks <> $3), false) AS "isShared"
     FROM (
       SELECT p.jwks_endpoint AS jwks FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id WHERE t.client_id = $1
         AND p.issuer = $2
       UNION ALL
       SELECT wanted ->> 'jwksEndpoint' FROM carrel.registration_requests
       WHERE tenant = current_user AND wanted ->> 'clientId' = $1 AND wanted ->> 'issuer' = $2) u`,
    [clientId, issuer, jwksEndpoint],
  );
  return use ?? { isTaken: false, isShared: false };
}
