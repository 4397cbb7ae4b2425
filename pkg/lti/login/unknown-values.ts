import type { Logger } from '../../runtime/log.ts';
import type { Executor } from '../../store/postgres/database.ts';
import { isNearly } from './issuers.policy.ts';

/** Number of values recorded per field of a registration (the slots of carrel.unknown_values). */
const SLOTS = 5;
/** This many of them are reserved for signed messages: a flood of logins does not hide an LMS's own messages. */
const SLOTS_OF_SIGNED = 1;
/** A value that recurs within this time is not recorded again, and keeps its slot this long. */
const AGAIN_AFTER = '1 hour';
const VALUE_MAX = 255;
const ISSUERS_COMPARED = 200;

type Field = 'iss' | 'client_id' | 'lti_deployment_id';
/** A login, which anyone can begin, or a message that the LMS signed. */
type Source = 'login' | 'signed';

const ISSUERS = `
  SELECT t.id AS "toolId", p.issuer FROM lti_tools t JOIN lti_platforms p ON p.id = t.platform_id
  WHERE p.is_active AND t.is_active AND t.managed_ref IS NOT NULL ORDER BY t.id LIMIT ${ISSUERS_COMPARED}`;

const NOTE = `
  INSERT INTO carrel.unknown_values AS u (managed_ref, field, slot, value)
  SELECT t.managed_ref, $2, free.slot, $3
  FROM lti_tools t CROSS JOIN LATERAL (
    SELECT s.slot FROM generate_series(CASE WHEN $4 THEN 0 ELSE ${SLOTS_OF_SIGNED} END, ${SLOTS - 1}) AS s (slot)
    LEFT JOIN carrel.unknown_values k ON k.tenant = current_user AND k.managed_ref = t.managed_ref AND k.field = $2
      AND k.slot = s.slot
    WHERE k.noted_at IS NULL OR k.noted_at < now() - interval '${AGAIN_AFTER}'
    ORDER BY k.value = $3 DESC NULLS LAST, k.noted_at NULLS FIRST, s.slot LIMIT 1) free
  WHERE t.id = $1 AND t.managed_ref IS NOT NULL AND NOT EXISTS (
    SELECT FROM carrel.unknown_values k WHERE k.tenant = current_user AND k.managed_ref = t.managed_ref AND k.field = $2
      AND k.value = $3
      AND k.noted_at >= now() - interval '${AGAIN_AFTER}')
  ON CONFLICT (tenant, managed_ref, field, slot) DO UPDATE SET value = excluded.value, noted_at = now()
    WHERE u.noted_at < now() - interval '${AGAIN_AFTER}'
  RETURNING managed_ref AS reference`;

/**
 * Records values of an LMS that differ from its registration: in the log, and as notes, which the operator turns into Events.
 * Anyone can begin a login, so at most five values an hour are recorded for each field of a registration, at most four of them
 * from logins. Further ones change and log nothing.
 */
export class UnknownValues {
  readonly #sql: Executor;
  readonly #log: Logger;

  constructor(deps: { sql: Executor; log: Logger }) {
    this.#sql = deps.sql;
    this.#log = deps.log;
  }

  /** Records an unregistered issuer of a login at the registration that it most likely belongs to. At most two statements. */
  async noteIssuer(issuer: string): Promise<void> {
    const registered = await this.#sql.prepared<{ toolId: number; issuer: string }>('lti-issuers', ISSUERS, []);
    const near = registered.find((one) => isNearly(issuer, one.issuer));
    if (near) await this.note(near.toolId, 'iss', issuer, 'login');
  }

  /** Takes one statement. */
  async note(toolId: number, field: Field, value: string, source: Source): Promise<void> {
    const text = Array.from(value.toWellFormed().replaceAll('\0', '')).slice(0, VALUE_MAX).join('');
    const [noted] = await this.#sql.prepared<{ reference: string }>('lti-unknown-value', NOTE, [
      toolId,
      field,
      text,
      source === 'signed',
    ]);
    if (!noted) return;
    const printable = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD');
    this.#log.warn(
      { registration: noted.reference, [field]: printable },
      'an LMS sent a value that differs from its registration',
    );
  }
}
