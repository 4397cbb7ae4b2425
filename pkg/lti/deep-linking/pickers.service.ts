import { decodeJwt } from 'jose/jwt/decode';
import type { Actor } from '../../api/actor.ts';
import { Problem } from '../../api/problem.ts';
import { type AuthorizedTransactions, authorizedTransactions } from '../../content/model/access/authorized-transactions.ts';
import { allows, levelOn } from '../../content/model/access/inherited-access.policy.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { TaggedCache } from '../../store/redis/tagged-cache.ts';
import { deepLinkingOf } from '../launch/id-token.ts';
import { LaunchError } from '../launch-error.ts';
import { privateKeyAssociatedData } from '../private-key.ts';
import { ContentItems } from './content-items.ts';
import type { AnswerView, NewAnswer, PickerView } from './deep-linking.schema.ts';
import { type Offer, offerOf } from './offer.policy.ts';
import { findPicker, markAnswered, type PickerRow } from './pickers.sql.ts';
import { answerOf, signResponse } from './response.policy.ts';
import type { DeepLinkingSettings } from './settings.policy.ts';

interface Picker {
  readonly row: PickerRow;
  readonly settings: DeepLinkingSettings;
  readonly offer: Offer;
}

/**
 * Shows and answers deep linking requests.
 *
 * Invariants:
 * - Only the session that its launch opened can see and answer a request.
 * - A request is answered once, even if several answers race. A refused answer changes nothing: it leaves no share link, and the
 *   request stays unanswered.
 * - The id_token that the platform signed is read each time for what the platform accepts; nothing that a browser sends decides
 *   it.
 */
export class Pickers {
  readonly #db: Database;
  readonly #transactions: AuthorizedTransactions;
  readonly #items: ContentItems;
  readonly #sealer: Sealer;
  readonly #tenantId: string;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(deps: {
    db: Database;
    cache: TaggedCache;
    items: ContentItems;
    sealer: Sealer;
    tenantId: string;
    clock: Clock;
    random: Random;
  }) {
    this.#db = deps.db;
    this.#transactions = authorizedTransactions(deps);
    this.#items = deps.items;
    this.#sealer = deps.sealer;
    this.#tenantId = deps.tenantId;
    this.#clock = deps.clock;
    this.#random = deps.random;
  }

  /** Takes one statement. Throws `not_found`. */
  async show(actor: Actor, launchId: string): Promise<PickerView> {
    const { row, settings, offer } = await this.#find(actor, launchId);
    return {
      launch_id: launchId,
      user: { id: actor.userUuid },
      context: row.course && { title: row.course.title },
      folder: offer.isOwnOnly ? null : await folderOf(actor, row.folder),
      types: [...offer.types],
      media_types: settings.mediaTypes ? [...settings.mediaTypes] : null,
      multiple: settings.acceptMultiple,
      own_only: offer.isOwnOnly,
      line_items: offer.types.includes('ltiResourceLink') && settings.acceptLineItem !== false,
      answered_at: row.answeredAt?.toISOString() ?? null,
      expires_at: row.expiresAt?.toISOString() ?? null,
    };
  }

  /**
   * Returns the signed answer; an empty list of items tells the LMS that the person cancelled. Three statements, and up to two
   * per item. Throws `not_found`, `forbidden`, `item_refused`, `answer_too_long`, `picker_answered`, `registration_inactive`.
   */
  async answer(actor: Actor, launchId: string, { items: picked }: NewAnswer): Promise<AnswerView> {
    const { row, settings, offer } = await this.#find(actor, launchId);
    const { isActive, keyId, privateKey, managedRef, mode, clientId, issuer, deploymentId } = row;
    if (!isActive || keyId === null || privateKey === null || managedRef === null) throw new Problem('registration_inactive');
    if (picked.length > 1 && !settings.acceptMultiple)
      throw new Problem('item_refused', 'The LMS accepts one item at a time here.');
    return this.#transactions.run(actor, async (tx, caller) => {
      const now = this.#clock.now();
      if (!(await markAnswered(tx, launchId, now))) throw new Problem('picker_answered');
      const items = await this.#items.make({ tx, ...caller, now }, { row, settings, offer }, picked);
      const response = { clientId, issuer, deploymentId, items, data: settings.data, nonce: this.#random.base64url(32), now };
      const key = { keyId, privateKey: this.#sealer.open(privateKey, privateKeyAssociatedData(this.#tenantId, managedRef)) };
      return answerOf(mode, settings.returnUrl, await signResponse(response, key));
    });
  }

  async #find(actor: Actor, launchId: string): Promise<Picker> {
    if (actor.launchId !== launchId) throw new Problem('not_found');
    const row = await findPicker(this.#db.tables, launchId);
    const settings = row && settingsIn(row);
    if (!row || !settings) throw new Problem('not_found');
    return { row, settings, offer: offerOf(settings, row.roles) };
  }
}

/** Returns the settings of a launch's deep linking request; undefined if the launch made no such request. */
export function settingsIn({ idToken }: Pick<PickerRow, 'idToken'>): DeepLinkingSettings | undefined {
  if (idToken === null) return undefined;
  try {
    return deepLinkingOf(decodeJwt(idToken));
  } catch (error) {
    // A release with other rules accepted this token.
    if (error instanceof LaunchError) return undefined;
    throw error;
  }
}

async function folderOf(actor: Actor, folder: PickerRow['folder']): Promise<PickerView['folder']> {
  if (!folder) return null;
  const level = levelOn('folder', { actor, granted: await actor.permissionSet() }, { ...folder, ancestors: [folder] });
  if (!allows(level, 'read')) return null;
  return { id: folder.uuid, name: folder.name, may_write: allows(level, 'write') && actor.permissions.has('write:files') };
}
