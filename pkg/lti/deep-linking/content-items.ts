import { FETCH_LINK_SECONDS } from '../../api/lifetimes.ts';
import { Problem } from '../../api/problem.ts';
import type { Caller } from '../../content/model/access/caller.ts';
import { allows, levelOn } from '../../content/model/access/inherited-access.policy.ts';
import { createImageLink } from '../../content/download-links/image-links.sql.ts';
import { sealLink } from '../../content/download-links/sealed-links.ts';
import { type FileRecord, findFiles } from '../../content/model/files/files.sql.ts';
import { insertShare } from '../../content/sharing/shares.sql.ts';
import type { Random } from '../../runtime/random.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Tx } from '../../store/postgres/database.ts';
import { signPlacedTarget, type TargetKey } from '../links/placed-target.policy.ts';
import type { TargetKeys } from '../links/target-keys.ts';
import type { PickedItem } from './deep-linking.schema.ts';
import { isTaken, type ItemType, type Offer } from './offer.policy.ts';
import type { PickerRow } from './pickers.sql.ts';
import type { ContentItem } from './response.policy.ts';
import type { DeepLinkingSettings } from './settings.policy.ts';

const TOKEN_BYTES = 32;

/** The person in whose name items are made, and the time. */
interface By extends Caller {
  readonly tx: Tx;
  readonly now: Date;
}

interface Wanted {
  readonly row: Pick<PickerRow, 'issuer' | 'clientId' | 'course' | 'folder'>;
  readonly settings: DeepLinkingSettings;
  readonly offer: Offer;
}

/** The parts of one item. */
interface Choice {
  readonly item: PickedItem;
  readonly file: FileRecord;
  readonly title: string;
  readonly text: string;
}

/**
 * Makes the items of an answer.
 *
 * Invariants:
 * - Makes only items that the platform accepts, from files that the person may read; for a learner, from their own files.
 * - No item gives others more access than the person could. A share link requires the right to share the file. A link of this
 *   tool also requires it, unless the file is in the course's folder, which the course's members can read anyway.
 */
export class ContentItems {
  readonly #targets: TargetKeys;
  readonly #sealer: Sealer;
  readonly #random: Random;
  readonly #tenantId: string;
  readonly #appUrl: string;
  readonly #apiUrl: string;

  constructor(deps: { targets: TargetKeys; sealer: Sealer; random: Random; tenantId: string; appUrl: string; apiUrl: string }) {
    this.#targets = deps.targets;
    this.#sealer = deps.sealer;
    this.#random = deps.random;
    this.#tenantId = deps.tenantId;
    this.#appUrl = deps.appUrl;
    this.#apiUrl = deps.apiUrl;
  }

  /** Returns the items in the order of `picked`. Throws `not_found`, `forbidden`, `item_refused`, `share_policy`. */
  async make(by: By, wanted: Wanted, picked: readonly PickedItem[]): Promise<ContentItem[]> {
    if (picked.length === 0) return [];
    const files = await findFiles(
      by.tx,
      picked.map(({ file_id }) => file_id),
    );
    const choices = picked.map((item, at) => requireChoice(by, wanted, item, files[at] ?? null));
    const key = picked.some(({ type }) => type === 'ltiResourceLink') ? await this.#targets.current(by.tx) : undefined;
    const items: ContentItem[] = [];
    for (const choice of choices) items.push(await this.#item(by, wanted, choice, key));
    return items;
  }

  async #item(by: By, { row }: Wanted, choice: Choice, key: TargetKey | undefined): Promise<ContentItem> {
    const { item, file, title, text } = choice;
    const make: Record<ItemType, () => Promise<ContentItem>> = {
      ltiResourceLink: async () => ({
        type: 'ltiResourceLink',
        url: `${this.#appUrl}/lti/launch`,
        title,
        text,
        custom: key
          ? signPlacedTarget(key, { file: file.uuid, maker: by.actor.userUuid, course: row.course?.id ?? null }, row)
          : {},
        ...(item.line_item === undefined ? {} : { lineItem: lineItemOf(item.line_item, title) }),
      }),
      link: async () => ({ type: 'link', url: await this.#share(by, file), title, text }),
      file: async () => ({ type: 'file', title, text, ...this.#fetched(by, file), ...mediaTypeOf(file) }),
      image: async () => ({ type: 'image', title, text, url: await this.#shown(by, file), ...mediaTypeOf(file) }),
    };
    return make[item.type]();
  }

  async #share({ tx, actor, now }: By, file: FileRecord): Promise<string> {
    const row = await insertShare(tx, {
      uuid: this.#random.uuid(),
      token: this.#random.hex(TOKEN_BYTES),
      kind: 'file',
      mode: 'download',
      resourceId: file.id,
      createdBy: actor.userId,
      passwordHash: null,
      expiresAt: undefined,
      maxDownloads: null,
      now,
    });
    if (!row) throw new Problem('not_found');
    return `${this.#appUrl}/s/${row.token}`;
  }

  /** A short-lived link to the chosen version, even if the file changes or is deleted. */
  #fetched({ actor, now }: By, { uuid, version }: FileRecord): { url: string; expiresAt: string } {
    const until = now.getTime() + FETCH_LINK_SECONDS * 1000;
    const ticket = sealLink(
      { sealer: this.#sealer, tenantId: this.#tenantId },
      { file: uuid, version, user: actor.userUuid, until },
    );
    return { url: `${this.#apiUrl}/tickets/${ticket}`, expiresAt: new Date(until).toISOString() };
  }

  /** A link to the chosen version that lasts as long as the page that shows it. */
  async #shown({ tx, actor }: By, { id, version }: FileRecord): Promise<string> {
    return `${this.#apiUrl}/tickets/${await createImageLink(tx, this.#random, { fileId: id, version, givenBy: actor.userId })}`;
  }
}

function requireChoice(caller: By, { row, settings, offer }: Wanted, item: PickedItem, file: FileRecord | null): Choice {
  const { actor } = caller;
  const level = file?.deletedAt === null ? levelOn('file', caller, file) : null;
  if (!file || !allows(level, 'read') || !actor.permissions.has('read:files')) throw new Problem('not_found');
  if (!offer.types.includes(item.type)) throw new Problem('item_refused', `The LMS does not accept ${item.type} here.`);
  if (offer.isOwnOnly && file.ownerId !== actor.userId)
    throw new Problem('item_refused', `${file.name} is not yours; hand in one of your own files.`);
  if (!isTaken(item.type, file.mimeType, settings))
    throw new Problem(
      'item_refused',
      `The LMS does not accept ${file.name} (${file.mimeType ?? 'unknown type'}) as ${item.type} here.`,
    );
  if (item.line_item !== undefined && (item.type !== 'ltiResourceLink' || settings.acceptLineItem === false))
    throw new Problem('item_refused', `The LMS does not create a grade book column for ${file.name} here.`);
  const mayShare = allows(level, 'admin') && actor.permissions.has('share:files');
  const isInCourse = file.ancestors.some(({ uuid }) => uuid === row.folder?.uuid);
  if ((item.type === 'link' && !mayShare) || (item.type === 'ltiResourceLink' && !mayShare && !isInCourse))
    throw new Problem('forbidden', `You may not share ${file.name}; copy it to your own files, or to the folder of the course.`);
  const title = item.title ?? file.name;
  return { item, file, title, text: item.text ?? title };
}

const lineItemOf = (
  { label, score_maximum, resource_id, tag }: NonNullable<PickedItem['line_item']>,
  title: string,
): Readonly<Record<string, unknown>> => ({
  label: label ?? title,
  scoreMaximum: score_maximum,
  ...(resource_id === undefined ? {} : { resourceId: resource_id }),
  ...(tag === undefined ? {} : { tag }),
});

/** Canvas requires a media type for files; other platforms ignore it. */
const mediaTypeOf = ({ mimeType }: FileRecord): { mediaType?: string } => (mimeType === null ? {} : { mediaType: mimeType });
