/**
 * Names of files and folders (design 5, Files: Names; specification, File and Folder).
 *
 * A name is NFC and 1 to 255 characters (code points, as Postgres counts them). What could not be a name is refused, never stripped:
 * whoever sent it learns so, and no two names become one behind their back.
 */
export const NAME_MAX_CHARACTERS = 255;
export const PATH_MAX_CHARACTERS = 2048;
export const EXTENSION_MAX_CHARACTERS = 50;

const CONTROL = /\p{Cc}/u;

/** Characters as Postgres counts them: code points, not UTF-16 units. */
export const characters = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** The name as it is stored. Two spellings of one text (composed, decomposed) are the same name. */
export const normalName = (name: string): string => name.normalize('NFC');

/** Why a normal name cannot be one, for people; null when it can. */
export function nameFault(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (!name.isWellFormed() || name.includes('\uFFFD')) return 'must be valid Unicode';
  if (name === '.' || name === '..') return 'must not be . or ..';
  if (name.includes('/')) return 'must not contain /';
  if (CONTROL.test(name)) return 'must not contain control characters';
  if (characters(name) > NAME_MAX_CHARACTERS) return `must have at most ${NAME_MAX_CHARACTERS} characters`;
  return null;
}

/** The last suffix in lower case, without its dot; null when there is none (`.profile`, `README`, `a.`) or it is too long to be one. */
export function extensionOf(name: string): string | null {
  const dot = name.lastIndexOf('.');
  if (dot <= 0 || dot === name.length - 1) return null;
  const extension = name.slice(dot + 1).toLowerCase();
  return characters(extension) > EXTENSION_MAX_CHARACTERS ? null : extension;
}

/** Full virtual path of something in a folder (`null`: in its owner's root). Always begins with `/`. */
export const pathOf = (parentPath: string | null, name: string): string => `${parentPath ?? ''}/${name}`;

/** Why a path cannot be one, for people; null when it can. */
export const pathFault = (path: string): string | null =>
  characters(path) > PATH_MAX_CHARACTERS ? `makes a path of more than ${PATH_MAX_CHARACTERS} characters` : null;

/**
 * The `attempt`-th other name for something whose name is taken: `report.pdf` → `report (1).pdf`, `report (2).pdf`…
 * The stem is shortened where the name would grow too long, so what comes out is always a name.
 */
export function alternativeName(name: string, attempt: number): string {
  const dot = name.lastIndexOf('.');
  const cut = dot > 0 && characters(name.slice(dot)) <= EXTENSION_MAX_CHARACTERS + 1 ? dot : name.length;
  const suffix = ` (${attempt})${name.slice(cut)}`;
  const room = NAME_MAX_CHARACTERS - characters(suffix);
  const stem = Array.from(name.slice(0, cut)).slice(0, room).join('');
  return normalName(`${stem}${suffix}`);
}
