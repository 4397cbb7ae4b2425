/**
 * Names of files and folders (docs/design/api-conventions.md, Files; docs/design/records.md, File).
 *
 * A name is NFC and 1 to 255 characters (code points, as Postgres counts them). An invalid name is refused, never stripped:
 * the client gets an error, and two names never become one silently.
 */
export const NAME_MAX_CHARACTERS = 255;
export const PATH_MAX_CHARACTERS = 2048;
export const EXTENSION_MAX_CHARACTERS = 50;

const CONTROL = /\p{Cc}/u;
/** Marks, embeddings, overrides and isolates (UAX 9): behind them `gpj.exe` reads as `exe.jpg`. */
const BIDI_CONTROL = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
/** Nothing that anybody sees: spaces, characters of no width, the empty Braille cell. */
const INVISIBLE = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Characters as Postgres counts them: code points, not UTF-16 units. */
export const characters = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Returns the name as it is stored. Two spellings of one text (composed, decomposed) are the same name. */
export const normalName = (name: string): string => name.normalize('NFC');

/** Returns why a normalized text cannot be a name, for people; null if it can. */
export function nameFault(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (!name.isWellFormed() || name.includes('\uFFFD')) return 'must be valid Unicode';
  if (name === '.' || name === '..') return 'must not be . or ..';
  if (name.includes('/')) return 'must not contain /';
  if (name.includes('\\')) return 'must not contain \\';
  if (CONTROL.test(name)) return 'must not contain control characters';
  if (name.search(BIDI_CONTROL) !== -1) return 'must not contain characters that control the direction of text';
  if (isInvisible(name)) return 'must not consist of spaces and invisible characters alone';
  if (characters(name) > NAME_MAX_CHARACTERS) return `must have at most ${NAME_MAX_CHARACTERS} characters`;
  return null;
}

/**
 * Makes a name of a text that users cannot correct (an LMS's title): invalid characters are replaced or dropped. Null: nothing
 * is left of it. At most `max` characters.
 */
export function nameFrom(text: string, max: number = NAME_MAX_CHARACTERS): string | null {
  const clean = withoutBidiControls(text.toWellFormed())
    .replaceAll(/[/\\]/g, '-')
    .replaceAll(/[\p{Cc}\uFFFD]/gu, '');
  const name = Array.from(normalName(clean)).slice(0, max).join('').trim();
  return nameFault(name) === null ? name : null;
}

export const withoutBidiControls = (text: string): string => text.replaceAll(BIDI_CONTROL, '');
export const isInvisible = (text: string): boolean => INVISIBLE.test(text);

/**
 * Returns the last suffix in lower case, without its dot; null when there is none (`.profile`, `README`, `a.`) or it is too
 * long to be one.
 */
export function extensionOf(name: string): string | null {
  const dot = name.lastIndexOf('.');
  if (dot <= 0 || dot === name.length - 1) return null;
  const extension = name.slice(dot + 1).toLowerCase();
  return characters(extension) > EXTENSION_MAX_CHARACTERS ? null : extension;
}

/** Returns the full virtual path of something in a folder (`null`: in its owner's root). Always begins with `/`. */
export const pathOf = (parentPath: string | null, name: string): string => `${parentPath ?? ''}/${name}`;

/** Returns a path without its first `hidden` folders, which the viewer may not see. */
export const pathBelow = (path: string, hidden: number): string =>
  hidden === 0
    ? path
    : `/${path
        .split('/')
        .slice(1 + hidden)
        .join('/')}`;

/**
 * Returns why a path is invalid, for people; null if it is valid. With `hidden` folders, the message does not disclose the
 * path's length.
 */
export function pathFault(path: string, hidden: number): string | null {
  return characters(path) <= PATH_MAX_CHARACTERS ? null : tooLongPath(hidden);
}

/** Says why the database refused a path. */
export const tooLongPath = (hidden: number): string =>
  hidden === 0 ? `makes a path of more than ${PATH_MAX_CHARACTERS} characters` : 'is too long for this folder';
