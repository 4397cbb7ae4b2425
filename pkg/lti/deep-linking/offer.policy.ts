import { courseRole } from '../launch/launch-roles.policy.ts';
import { LaunchError } from '../launch-error.ts';
import type { DeepLinkingSettings } from './settings.policy.ts';

/** The types of items that Carrel offers (Deep Linking 2.0 §3). Never `html`: a user's file would run in the LMS's page. */
export const ITEM_TYPES = ['ltiResourceLink', 'link', 'file', 'image'] as const;
export type ItemType = (typeof ITEM_TYPES)[number];

/** The choices that a person has for one request. */
export interface Offer {
  /** May be empty: the person can then only cancel. */
  readonly types: readonly ItemType[];
  /** Whether the person may choose only files that they own. */
  readonly isOwnOnly: boolean;
}

/**
 * Returns what a person may choose. Instructors choose anything the LMS accepts. Learners choose only where they hand in, that
 * is, where the LMS accepts files but not links of this tool: copies of their own files. Throws LaunchError
 * `picker_not_for_learners`.
 */
export function offerOf({ acceptTypes }: Pick<DeepLinkingSettings, 'acceptTypes'>, roles: readonly string[]): Offer {
  const types = ITEM_TYPES.filter((type) => acceptTypes.includes(type));
  if (courseRole(roles) === 'instructor') return { types, isOwnOnly: false };
  if (!types.includes('file') || types.includes('ltiResourceLink')) throw new LaunchError('picker_not_for_learners');
  return { types: ['file'], isOwnOnly: true };
}

/**
 * Returns whether the LMS accepts a file of this media type as such an item. `accept_media_types` restricts files only (Deep
 * Linking 2.0 §4.4.1).
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
