import { isDeepStrictEqual } from 'node:util';
import type { Actor } from '../api/actor.ts';
import { requireMatch } from '../api/etag.ts';
import type { Page } from '../api/paging.ts';
import { Problem } from '../api/problem.ts';
import type { Uuid } from '../api/schemas.ts';
import type { AllowedRange } from '../net/private-address.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Database, Tx } from '../store/postgres/database.ts';
import type { NewWebhook as NewRow, Webhook } from '../store/postgres/tables.ts';
import type { WebhookSeal } from './sealing.ts';
import { newSecret } from './webhook-secrets.ts';
import { freshStart, requireAddress, requireHeadersOfOrigin, requireOwn, TOO_MANY_WEBHOOKS } from './webhooks.policy.ts';
import type { NewSecret, NewWebhook, WebhookChanges, WebhookQuery, WebhookView, WebhookWithSecret } from './webhooks.schema.ts';
import { hasRoom, listWebhooks, lockForCreation } from './webhooks.sql.ts';
import { presentWebhook, webhookEtag, withSecret } from './webhooks.view.ts';
import { HOUR_MS } from '../runtime/time.ts';

type IfMatch = readonly string[] | '*' | undefined;

/**
 * The endpoints that a tenant's events are delivered to (docs/design/events-and-jobs.md).
 *
 * Invariants:
 * - A tenant has at most WEBHOOKS_MAX endpoints, however many creations race.
 * - A secret appears only in the reply to its creation or rotation, which an Idempotency-Key repeats; at rest it is sealed.
 * - A webhook that a Kubernetes resource manages is shown here and never changed.
 * - Header values are sent only to the origin that they were given for.
 * - A change takes effect with the next event: emitting reads the rows themselves, and webhooks are not cached.
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

  /** Runs one statement. */
  async list(query: WebhookQuery): Promise<Page<WebhookView>> {
    return listWebhooks(this.#db, query, (row) => this.#present(row));
  }

  /** Throws `not_found`. */
  async get(id: Uuid): Promise<WebhookView> {
    const webhook = await this.#db.tables.webhooks.find({ uuid: id });
    if (!webhook) throw new Problem('not_found');
    return this.#present(webhook);
  }

  /** Throws `address_refused`, `validation_failed`, and `conflict` if the tenant has too many. */
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

  /**
   * Serves PUT and PATCH: an undefined field keeps its value. Throws `not_found`, `managed`, `precondition_failed`, and the
   * errors of `create`.
   */
  async change(id: Uuid, changes: WebhookChanges, ifMatch: IfMatch): Promise<WebhookView> {
    if (changes.url !== undefined) requireAddress(changes.url, this.#allowed);
    return this.#db.transaction(async (tx) => {
      const webhook = await requireChangeable(tx, id, ifMatch);
      const { url, events, active, description, headers } = changes;
      requireHeadersOfOrigin(webhook, url, headers);
      // Sealing the same headers again returns another text.
      const hasHeaders = headers !== undefined && isDeepStrictEqual(headers, this.#seal.openHeaders(id, webhook.headers));
      return this.#update(tx, webhook, {
        url: url ?? webhook.url,
        events: events ?? webhook.events,
        active,
        description,
        headers: headers && !hasHeaders ? this.#seal.sealHeaders(id, headers) : undefined,
        ...freshStart(webhook, changes),
      });
    });
  }

  /**
   * Sets a new secret. The previous one also signs for `overlap_hours`; an older one no longer does. Throws `not_found`,
   * `managed`, `precondition_failed`.
   */
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

  /** Pending deliveries are canceled when they are due. Throws `not_found`, `managed`, `precondition_failed`. */
  async remove(id: Uuid, ifMatch: IfMatch): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const webhook = await requireChangeable(tx, id, ifMatch);
      await tx.webhooks.delete({ id: webhook.id });
    });
  }

  async #update(tx: Tx, webhook: Webhook, changes: Partial<NewRow>): Promise<WebhookView> {
    const changed = await tx.webhooks.change(webhook, changes);
    if (!changed) throw new Problem('not_found');
    return this.#present(changed);
  }

  #present(webhook: Webhook): WebhookView {
    return presentWebhook(webhook, this.#seal, this.#clock.now());
  }
}

/** Throws `conflict` if the tenant has too many webhooks. */
async function requireRoom(tx: Tx): Promise<void> {
  await lockForCreation(tx);
  const [row] = await tx.query<{ hasRoom: boolean }>(`SELECT ${hasRoom()} AS "hasRoom"`);
  if (!row?.hasRoom) throw new Problem('conflict', TOO_MANY_WEBHOOKS);
}

/** Returns the row, locked. */
async function requireChangeable(tx: Tx, id: Uuid, ifMatch: IfMatch): Promise<Webhook> {
  const webhook = await tx.webhooks.find({ uuid: id }, { lock: 'update' });
  if (!webhook) throw new Problem('not_found');
  requireOwn(webhook);
  requireMatch(ifMatch, webhookEtag(webhook));
  return webhook;
}
