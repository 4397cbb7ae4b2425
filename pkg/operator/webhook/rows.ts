import { isDeepStrictEqual } from 'node:util';
import { WebhookSeal } from '../../events/webhooks/secrets.ts';
import { WEBHOOKS_MAX } from '../../events/webhooks/webhooks.policy.ts';
import type { Random } from '../../runtime/random.ts';
import { quoteIdentifier } from '../../store/postgres/pool.ts';
import { tenantRole } from '../../store/postgres/provisioning.ts';
import { NotYet } from '../steps.ts';
import { MANAGED_BY, type TenantRows, type TenantSchema } from '../tenant-rows.ts';

/** A Webhook as its row in the tenant's schema should be. */
export interface Endpoint {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly active: boolean;
}

/** What the row tells of the receiver's health; times are ISO 8601. */
export interface EndpointState {
  readonly uuid: string;
  readonly lastDeliveryAt: Date | null;
  readonly lastStatusCode: number | null;
  readonly failingSince: Date | null;
  readonly disabledReason: string | null;
}

interface Row extends EndpointState {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  readonly headers: string | null;
  readonly active: boolean;
}

/** Room is made by somebody whom we do not watch. */
const ROOM_RETRY_MS = 30_000;

/** How long the secret before still signs beside the new one. */
const OVERLAP_HOURS = 24;

const COLUMNS = `uuid, url, events, secret, headers, active, failing_since AS "failingSince", disabled_reason AS "disabledReason",
  last_delivery_at AS "lastDeliveryAt", last_status_code AS "lastStatusCode"`;

const tableOf = ({ slug }: TenantSchema): string => `${quoteIdentifier(tenantRole(slug))}.webhooks`;

/** The row of a Webhook, by its `<namespace>/<name>`. */
export async function findEndpoint(rows: TenantRows, reference: string): Promise<Row | undefined> {
  const [row] = await rows.pool.query<Row>(`SELECT ${COLUMNS} FROM ${tableOf(rows)} WHERE managed_ref = $1`, [reference]);
  return row;
}

/**
 * Makes the row say what is wanted. One statement when it does already.
 * An endpoint that was disabled for failing stays so until the resource changes it; a changed secret overlaps with the one before.
 * Throws NotYet TooManyWebhooks: a tenant has at most WEBHOOKS_MAX, those made by REST included.
 */
export async function syncEndpoint(rows: TenantRows, reference: string, wanted: Endpoint, random: Random): Promise<EndpointState> {
  const present = (await findEndpoint(rows, reference)) ?? (await insert(rows, reference, wanted, random));
  const secret = openSecret(rows, present);
  const isSame =
    present.url === wanted.url &&
    isDeepStrictEqual([...present.events].toSorted(), [...wanted.events].toSorted()) &&
    secret === wanted.secret &&
    isDeepStrictEqual(new WebhookSeal(rows).openHeaders(present.uuid, present.headers), wanted.headers) &&
    (present.active === wanted.active || (wanted.active && present.disabledReason !== null)) &&
    (wanted.active || present.disabledReason === null);
  return isSame ? present : update(rows, present, wanted, secret === wanted.secret ? undefined : secret);
}

/** Gone already is fine. */
export async function removeEndpoint(schema: TenantSchema, reference: string): Promise<void> {
  await schema.pool.query(`DELETE FROM ${tableOf(schema)} WHERE managed_ref = $1 AND managed_by = $2`, [reference, MANAGED_BY]);
}

/** Removes the rows of all resources but these. */
export async function keepEndpoints(schema: TenantSchema, references: readonly string[]): Promise<void> {
  await schema.pool.query(`DELETE FROM ${tableOf(schema)} WHERE managed_by = $1 AND NOT managed_ref = ANY ($2)`, [MANAGED_BY, references]);
}

export const openSecret = (rows: TenantRows, { uuid, secret }: Pick<Row, 'uuid' | 'secret'>): string =>
  new WebhookSeal(rows).open(uuid, 'secret', secret);

function sealed(rows: TenantRows, uuid: string, { secret, headers }: Endpoint): { secret: string; headers: string | null } {
  const seal = new WebhookSeal(rows);
  return { secret: seal.seal(uuid, 'secret', secret), headers: seal.sealHeaders(uuid, headers) };
}

async function insert(rows: TenantRows, reference: string, wanted: Endpoint, random: Random): Promise<Row> {
  const uuid = random.uuid();
  const { secret, headers } = sealed(rows, uuid, wanted);
  const table = tableOf(rows);
  const made = await rows.pool.transaction(async (tx) => {
    // As REST does: creations take turns, so that none counts past another.
    await tx.query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    return tx.query(
      `INSERT INTO ${table} (uuid, url, events, secret, headers, active, managed_by, managed_ref)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE (SELECT count(*) FROM ${table}) < ${WEBHOOKS_MAX}
       ON CONFLICT (managed_ref) DO NOTHING RETURNING id`,
      [uuid, wanted.url, wanted.events, secret, headers, wanted.active, MANAGED_BY, reference],
    );
  });
  const row = await findEndpoint(rows, reference);
  if (!row && made.length === 0) throw tooMany();
  if (!row) throw new Error(`the row of webhook ${reference} was removed while it was made`);
  return row;
}

const tooMany = (): NotYet =>
  new NotYet('TooManyWebhooks', `the tenant has ${WEBHOOKS_MAX} webhooks, which is the most it may have; delete one first`, {
    isStuck: true,
    retryAfterMs: ROOM_RETRY_MS,
  });

async function update(rows: TenantRows, { uuid }: Row, wanted: Endpoint, formerSecret: string | undefined): Promise<Row> {
  const { secret, headers } = sealed(rows, uuid, wanted);
  const former = formerSecret === undefined ? null : new WebhookSeal(rows).seal(uuid, 'previous_secret', formerSecret);
  const [row] = await rows.pool.query<Row>(
    `UPDATE ${tableOf(rows)} SET url = $2, events = $3, secret = $4, headers = $5, active = $6, disabled_reason = NULL, failing_since = NULL,
       previous_secret = coalesce($7, previous_secret),
       previous_secret_until = CASE WHEN $7::text IS NULL THEN previous_secret_until ELSE now() + interval '${OVERLAP_HOURS} hours' END
     WHERE uuid = $1 RETURNING ${COLUMNS}`,
    [uuid, wanted.url, wanted.events, secret, headers, wanted.active, former],
  );
  if (!row) throw new Error(`the row of webhook ${uuid} was removed while it was changed`);
  return row;
}
