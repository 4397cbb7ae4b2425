/**
 * Webhooks that Kubernetes resources manage: the operator's side of the table `webhooks`. It uses a role that writes every
 * tenant's schema.
 */
import { isDeepStrictEqual } from 'node:util';
import { WebhookSeal } from './sealing.ts';
import { freshStart, SECRET_OVERLAP_HOURS, TooManyWebhooks } from './webhooks.policy.ts';
import { hasRoom, lockForCreation } from './webhooks.sql.ts';
import type { Random } from '../runtime/random.ts';
import { quoteIdentifier } from '../store/postgres/pool.ts';
import { tenantRole } from '../store/postgres/provisioning.ts';
import { MANAGED_BY, type TenantRows, type TenantSchema } from '../store/postgres/tenant-schema.ts';
import type { Webhook } from '../store/postgres/tables.ts';

/** The specification of a managing resource; the secret and headers are in clear. */
interface ManagedWebhook {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly active: boolean;
}

/** The columns of a managed webhook that the operator reads; secret and headers are sealed. */
export type ManagedRow = Pick<
  Webhook,
  | 'uuid'
  | 'url'
  | 'events'
  | 'secret'
  | 'headers'
  | 'active'
  | 'failingSince'
  | 'disabledReason'
  | 'lastDeliveryAt'
  | 'lastStatusCode'
>;

const COLUMNS = `uuid, url, events, secret, headers, active, failing_since AS "failingSince", disabled_reason AS "disabledReason",
  last_delivery_at AS "lastDeliveryAt", last_status_code AS "lastStatusCode"`;

const tableOf = ({ slug }: TenantSchema): string => `${quoteIdentifier(tenantRole(slug))}.webhooks`;

/** Returns the webhook that the resource `<namespace>/<name>` manages. */
export async function findManagedWebhook(rows: TenantRows, reference: string): Promise<ManagedRow | undefined> {
  const [row] = await rows.pool.query<ManagedRow>(`SELECT ${COLUMNS} FROM ${tableOf(rows)} WHERE managed_ref = $1`, [reference]);
  return row;
}

/**
 * Writes the row as `wanted`. Runs one statement if the row is already so. A webhook that was disabled for failing stays disabled
 * until the resource changes; `freshStart` decides what a change clears of the record. A changed secret overlaps with the
 * previous one. Throws TooManyWebhooks.
 */
export async function syncManagedWebhook(
  rows: TenantRows,
  reference: string,
  wanted: ManagedWebhook,
  random: Random,
): Promise<ManagedRow> {
  const present = (await findManagedWebhook(rows, reference)) ?? (await insert(rows, reference, wanted, random));
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

/** Deletes the webhook, if it exists. */
export async function removeManagedWebhook(schema: TenantSchema, reference: string): Promise<void> {
  await schema.pool.query(`DELETE FROM ${tableOf(schema)} WHERE managed_ref = $1 AND managed_by = $2`, [reference, MANAGED_BY]);
}

/** Deletes the webhooks of all resources except these. */
export async function deleteOtherManagedWebhooks(schema: TenantSchema, references: readonly string[]): Promise<void> {
  await schema.pool.query(`DELETE FROM ${tableOf(schema)} WHERE managed_by = $1 AND NOT managed_ref = ANY ($2)`, [
    MANAGED_BY,
    references,
  ]);
}

export const openSecret = (rows: TenantRows, { uuid, secret }: Pick<Webhook, 'uuid' | 'secret'>): string =>
  new WebhookSeal(rows).open(uuid, 'secret', secret);

function sealed(rows: TenantRows, uuid: string, { secret, headers }: ManagedWebhook): { secret: string; headers: string | null } {
  const seal = new WebhookSeal(rows);
  return { secret: seal.seal(uuid, 'secret', secret), headers: seal.sealHeaders(uuid, headers) };
}

async function insert(rows: TenantRows, reference: string, wanted: ManagedWebhook, random: Random): Promise<ManagedRow> {
  const uuid = random.uuid();
  const { secret, headers } = sealed(rows, uuid, wanted);
  const table = tableOf(rows);
  const made = await rows.pool.transaction(async (tx) => {
    await lockForCreation(tx, table);
    return tx.query(
      `INSERT INTO ${table} (uuid, url, events, secret, headers, active, managed_by, managed_ref)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE ${hasRoom(table)}
       ON CONFLICT (managed_ref) DO NOTHING RETURNING id`,
      [uuid, wanted.url, wanted.events, secret, headers, wanted.active, MANAGED_BY, reference],
    );
  });
  const row = await findManagedWebhook(rows, reference);
  if (!row && made.length === 0) throw new TooManyWebhooks();
  if (!row) throw new Error(`the row of webhook ${reference} was deleted while it was created`);
  return row;
}

async function update(
  rows: TenantRows,
  present: ManagedRow,
  wanted: ManagedWebhook,
  formerSecret: string | undefined,
): Promise<ManagedRow> {
  const { uuid } = present;
  const { secret, headers } = sealed(rows, uuid, wanted);
  const former = formerSecret === undefined ? null : new WebhookSeal(rows).seal(uuid, 'previous_secret', formerSecret);
  const fresh = freshStart(present, wanted);
  const [row] = await rows.pool.query<ManagedRow>(
    `UPDATE ${tableOf(rows)} SET url = $2, events = $3, secret = $4, headers = $5, active = $6,
       failing_since = CASE WHEN $8 THEN NULL ELSE failing_since END,
       disabled_reason = CASE WHEN $9 THEN NULL ELSE disabled_reason END,
       previous_secret = coalesce($7, previous_secret),
       previous_secret_until = CASE WHEN $7::text IS NULL THEN previous_secret_until
         ELSE now() + interval '${SECRET_OVERLAP_HOURS} hours' END
     WHERE uuid = $1 RETURNING ${COLUMNS}`,
    [uuid, wanted.url, wanted.events, secret, headers, wanted.active, former, 'failingSince' in fresh, 'disabledReason' in fresh],
  );
  if (!row) throw new Error(`the row of webhook ${uuid} was deleted while it was changed`);
  return row;
}
