/** Types of items (Deep Linking 2.0 §3). */
export type ItemType = 'ltiResourceLink' | 'link' | 'file' | 'image';

/** The properties of a file that choosing it needs. */
export interface Choosable {
  readonly id: string;
  readonly name: string;
  readonly mime_type: string | null;
}

export interface Choice {
  readonly file: Choosable;
  readonly type: ItemType;
  /** The typed text; empty: no column of the grade book. */
  readonly points: string;
}

interface Accepted {
  readonly types: readonly ItemType[];
  readonly media_types: readonly string[] | null;
}

/**
 * Returns the types as which the LMS accepts a file of this media type; none: it does not accept the file. The server applies the
 * same rule.
 */
export function typesOf({ mime_type }: Pick<Choosable, 'mime_type'>, { types, media_types }: Accepted): readonly ItemType[] {
  const own = (mime_type ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isFile = (media_types ?? ['*/*']).some(
    (taken) => taken === '*/*' || taken === own || (taken.endsWith('/*') && own.startsWith(taken.slice(0, -1))),
  );
  return types.filter((type) => (type === 'image' ? own.startsWith('image/') : type !== 'file' || isFile));
}

/** Returns the choices after one was switched; if only one is accepted, another replaces it. */
export function toggled(choices: readonly Choice[], choice: Choice, isMultiple: boolean): readonly Choice[] {
  const others = choices.filter(({ file }) => file.id !== choice.file.id);
  if (others.length < choices.length && isMultiple) return others;
  return isMultiple ? [...others, choice] : [choice];
}

/** Returns whether the points are empty, or a number that a column of the grade book may have. */
export const arePoints = (points: string): boolean => points.trim() === '' || (Number(points) > 0 && Number(points) <= 999.99);

/** Returns the item for the request to the server. */
export const itemOf = ({ file, type, points }: Choice, { line_items }: { readonly line_items: boolean }) => ({
  type,
  file_id: file.id,
  ...(line_items && type === 'ltiResourceLink' && points.trim() !== '' ? { line_item: { score_maximum: Number(points) } } : {}),
});
