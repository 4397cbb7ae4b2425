import { courseRole } from '../launch/launch-roles.policy.ts';
import { LaunchError } from '../launch-error.ts';
import type { DeepLinkingSettings } from './settings.policy.ts';

/**
 * The types of items that can be given (Deep Linking 2.0 §3); `html` never, since a file of somebody's would run in the LMS's
 * page.
 */
export const ITEM_TYPES = ['ltiResourceLink', 'link', 'file', 'image'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** What a person may choose for one request. */
export interface Offer {
  /** May be none: the person can then only cancel. */
  readonly types: readonly ItemType[];
  /** Whether only files count that the person owns. */
  readonly isOwnOnly: boolean;
}

/**
 * Instructors choose what the LMS accepts. Learners choose where they hand in, that is where files are accepted and links of this
 * tool are not: their own files, as copies. Throws LaunchError `picker_not_for_learners`.
 */
export function offerOf({ acceptTypes }: Pick<DeepLinkingSettings, 'acceptTypes'>, roles: readonly string[]): Offer {
  const types = ITEM_TYPES.filter((type) => acceptTypes.includes(type));
  if (courseRole(roles) === 'instructor') return { types, isOwnOnly: false };
  if (!types.includes('file') || types.includes('ltiResourceLink')) throw new LaunchError('picker_not_for_learners');
  return { types: ['file'], isOwnOnly: true };
}

/**
 * Whether the LMS takes a file of this media type as such an item. `accept_media_types` binds files alone (Deep Linking 2.0
 * §4.4.1).
 */
export function isTaken(
  type: ItemType,
  mimeType: string | null,
  { mediaTypes }: Pick<DeepLinkingSettings, 'mediaTypes'>,
): boolean {
  const own = (mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'image') return own.startsWith('image/');
  if (type !== 'file' || mediaTypes === undefined) return true;
  return mediaTypes.some(
    (taken) => taken === '*/*' || taken === own || (taken.endsWith('/*') && own.startsWith(taken.slice(0, -1))),
  );
}
