/** Types of items (Deep Linking 2.0 §3). */
export type ItemType = 'ltiResourceLink' | 'link' | 'file' | 'image';

/** A file as far as it can be chosen. */
export interface Choosable {
  readonly id: string;
  readonly name: string;
  readonly mime_type: string | null;
}

export interface Choice {
  readonly file: Choosable;
  readonly type: ItemType;
  /** As typed; empty: no column of the grade book. */
  readonly points: string;
}

interface Accepted {
  readonly types: readonly ItemType[];
  readonly media_types: readonly string[] | null;
}

/** As what the LMS takes a file of this media type; none: it does not. The server decides by the same rule. */
export function typesOf({ mime_type }: Pick<Choosable, 'mime_type'>, { types, media_types }: Accepted): readonly ItemType[] {
  const own = (mime_type ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isFile = (media_types ?? ['*/*']).some(
    (taken) => taken === '*/*' || taken === own || (taken.endsWith('/*') && own.startsWith(taken.slice(0, -1))),
  );
  return types.filter((type) => (type === 'image' ? own.startsWith('image/') : type !== 'file' || isFile));
}

/** The choices after one was switched; where only one is accepted, another takes its place. */
export function toggled(choices: readonly Choice[], choice: Choice, isMultiple: boolean): readonly Choice[] {
  const others = choices.filter(({ file }) => file.id !== choice.file.id);
  if (others.length < choices.length && isMultiple) return others;
  return isMultiple ? [...others, choice] : [choice];
}

/** Whether the points are none, or a number that a column of the grade book may have. */
export const arePoints = (points: string): boolean => points.trim() === '' || (Number(points) > 0 && Number(points) <= 999.99);

/** The item that the server is asked for. */
export const itemOf = ({ file, type, points }: Choice, { line_items }: { readonly line_items: boolean }) => ({
  type,
  file_id: file.id,
  ...(line_items && type === 'ltiResourceLink' && points.trim() !== '' ? { line_item: { score_maximum: Number(points) } } : {}),
});
