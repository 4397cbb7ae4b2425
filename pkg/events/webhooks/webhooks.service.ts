import type { Actor } from '../../api/actor.ts';
import { requireMatch } from '../../api/etag.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { AllowedRange } from '../../net/inward.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Database, Tx } from '../../store/postgres/database.ts';
import type { NewWebhook as NewRow, Webhook } from '../../store/postgres/tables.ts';
import { newSecret, type WebhookSeal } from './secrets.ts';
import { requireAddress, requireHeadersOfOrigin, requireOwn, WEBHOOKS_MAX } from './webhooks.policy.ts';
import {
  type NewSecret,
  type NewWebhook,
  presentWebhook,
  WEBHOOK_SORT_FIELDS,
  type WebhookChanges,
  webhookEtag,
  type WebhookQuery,
  type WebhookView,
  withSecret,
  type WebhookWithSecret,
} from './webhooks.schema.ts';

type IfMatch = readonly string[] | '*' | undefined;

const HOUR_MS = 3_600_000;

const COLUMNS = `id, uuid, url, events, secret, previous_secret AS "previousSecret", previous_secret_until AS "previousSecretUntil", headers,
  description, active, managed_by AS "managedBy", managed_ref AS "managedRef", created_by AS "createdBy", failing_since AS "failingSince",
  disabled_reason AS "disabledReason", last_delivery_at AS "lastDeliveryAt", last_status_code AS "lastStatusCode", revision,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/**
 * Where a tenant's events are told (design: section 7).
 *
 * Invariants:
 * - A tenant has at most WEBHOOKS_MAX endpoints, however many creations race.
 * - A secret is shown in the reply to its creation or rotation and nowhere else; at rest it is sealed. So these replies are never kept for an
 *   Idempotency-Key.
 * - What a Kubernetes resource made is shown and never changed here.
 * - The values of headers go to no origin that they were not given for.
 * - A change holds for the next event: emitting reads the rows themselves, and no cache rests on them.
 */
export class Webhooks {
  readonly #db: Database;
  readonly #seal: WebhookSeal;
  readonly #allowed: readonly AllowedRange[];
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: { db: Database; seal: WebhookSeal; egressAllow: readonly AllowedRange[]; clock: Clock; random: Random }) {
    this.#db = deps.db;
    this.#seal = deps.seal;
    this.#allowed = deps.egressAllow;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** One statement. */
  async list(query: WebhookQuery): Promise<Page<WebhookView>> {
    const order = { fields: WEBHOOK_SORT_FIELDS as readonly ('created_at' | 'id')[], fallback: '-created_at', tieBreaker: 'id' } as const;
    const request = pageRequest(query, order);
    const [after, way] = request.sort[0]?.descending ? ['<', 'DESC'] : ['>', 'ASC'];
    const [time = null, id = null] = request.after ?? [];
    const rows = await this.#db.query<Webhook>(
      `SELECT ${COLUMNS} FROM webhooks
       WHERE ($1::text IS NULL OR $1 = ANY (events)) AND ($2::boolean IS NULL OR active = $2)
         AND ($3::timestamptz IS NULL OR (created_at, id) ${after} ($3::timestamptz, $4::bigint))
       ORDER BY created_at ${way}, id ${way} LIMIT $5`,
      [query.event ?? null, query.active ?? null, time, id, request.limit + 1],
    );
    return page(
      request,
      rows,
      (row) => this.#present(row),
      (row) => [row.createdAt.toISOString(), row.id],
    );
  }

  /** Throws `not_found`. */
  async get(id: Uuid): Promise<WebhookView> {
    const webhook = await this.#db.tables.webhooks.find({ uuid: id });
    if (!webhook) throw new Problem('not_found');
    return this.#present(webhook);
  }

  /** Throws `address_refused`, `validation_failed`, and `conflict` when there are too many. */
  async create(actor: Actor, input: NewWebhook): Promise<WebhookWithSecret> {
    requireAddress(input.url, this.#allowed);
    const uuid = this.#random.uuid();
    const secret = input.secret ?? newSecret(this.#random);
    const webhook = await this.#db.transaction(async (tx) => {
      await requireRoom(tx);
      return tx.webhooks.insert({
        uuid,
        url: input.url,
        events: input.events,
        active: input.active,
        description: input.description ?? null,
        secret: this.#seal.seal(uuid, 'secret', secret),
        headers: this.#seal.sealHeaders(uuid, input.headers ?? {}),
        createdBy: actor.userId,
      });
    });
    return withSecret(this.#present(webhook), secret);
  }

  /** PUT and PATCH alike: what is undefined stays as it is. Throws `not_found`, `managed`, `precondition_failed`, and as `create` does. */
  async change(id: Uuid, changes: WebhookChanges, ifMatch: IfMatch): Promise<WebhookView> {
    if (changes.url !== undefined) requireAddress(changes.url, this.#allowed);
    return this.#db.transaction(async (tx) => {
      const webhook = await requireChangeable(tx, id, ifMatch);
      const { url, events, active, description, headers } = changes;
      requireHeadersOfOrigin(webhook, url, headers);
      return this.#update(tx, webhook, {
        url: url ?? webhook.url,
        events: events ?? webhook.events,
        active,
        description,
        headers: headers && this.#seal.sealHeaders(id, headers),
        ...freshStart(webhook, changes),
      });
    });
  }

  /** The secret before signs beside the new one for `overlap_hours`; one before that no more. Throws `not_found`, `managed`, `precondition_failed`. */
  async rotate(id: Uuid, input: NewSecret, ifMatch: IfMatch): Promise<WebhookWithSecret> {
    const secret = input.secret ?? newSecret(this.#random);
    const view = await this.#db.transaction(async (tx) => {
      const webhook = await requireChangeable(tx, id, ifMatch);
      const former = this.#seal.open(id, 'secret', webhook.secret);
      const overlaps = input.overlap_hours > 0;
      return this.#update(tx, webhook, {
        secret: this.#seal.seal(id, 'secret', secret),
        previousSecret: overlaps ? this.#seal.seal(id, 'previous_secret', former) : null,
        previousSecretUntil: overlaps ? new Date(this.#clock.now().getTime() + input.overlap_hours * HOUR_MS) : null,
      });
    });
    return withSecret(view, secret);
  }

  /** What waits for it is canceled when its turn comes. Throws `not_found`, `managed`, `precondition_failed`. */
  async remove(id: Uuid, ifMatch: IfMatch): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const webhook = await requireChangeable(tx, id, ifMatch);
      await tx.webhooks.delete({ id: webhook.id });
    });
  }

  async #update(tx: Tx, { id }: Webhook, changes: Partial<NewRow>): Promise<WebhookView> {
    const [webhook] = await tx.webhooks.update({ id }, changes);
    if (!webhook) throw new Problem('not_found');
    return this.#present(webhook);
  }

  #present(webhook: Webhook): WebhookView {
    return presentWebhook(webhook, this.#seal, this.#clock.now());
  }
}

/** Creations take turns; events, deliveries and reads go on meanwhile. Throws `conflict`. */
async function requireRoom(tx: Tx): Promise<void> {
  await tx.query('LOCK TABLE webhooks IN SHARE ROW EXCLUSIVE MODE');
  const [row] = await tx.query<{ count: number }>('SELECT count(*) AS count FROM webhooks');
  if ((row?.count ?? 0) >= WEBHOOKS_MAX)
    throw new Problem('conflict', `There are ${WEBHOOKS_MAX} webhooks, which is the most a tenant may have; delete one first.`);
}

/** The row, locked. */
async function requireChangeable(tx: Tx, id: Uuid, ifMatch: IfMatch): Promise<Webhook> {
  const webhook = await tx.webhooks.find({ uuid: id }, { lock: 'update' });
  if (!webhook) throw new Problem('not_found');
  requireOwn(webhook);
  requireMatch(ifMatch, webhookEtag(webhook));
  return webhook;
}

/** Another address, or being enabled anew, begins with a clean record; being switched off by a person is no failure. */
function freshStart(webhook: Webhook, { url, active }: WebhookChanges): Partial<NewRow> {
  const isOther = url !== undefined && url !== webhook.url;
  const isSwitched = active !== undefined && (active !== webhook.active || webhook.disabledReason !== null);
  return isOther || isSwitched ? { failingSince: null, ...(isSwitched ? { disabledReason: null } : {}) } : {};
}
