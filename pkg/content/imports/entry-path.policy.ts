import { characters, nameFault, nameFrom, normalName, PATH_MAX_CHARACTERS } from '../model/names/names.policy.ts';

/** The meaning of an entry's name. `refused`: why the archive is refused, in words for people. */
export type EntryPath =
  | { readonly refused: string }
  | { readonly isSystemFile: true }
  | {
      /** Names from the target folder down, each allowed here; none: the target itself. */
      readonly names: readonly string[];
      readonly isFolder: boolean;
      /** Some name is not allowed here as it is. */
      readonly isAdapted: boolean;
    };

const DRIVE = /^[a-z]:/i;
/** Files that macOS and Windows put beside people's own. */
const SYSTEM_FILE = /^(?:\.DS_Store|Thumbs\.db)$/i;
const NAMELESS = '_';

/**
 * Returns the path that an entry called `name` gets below the target. `separator`: a backslash where no name of the archive has
 * a slash.
 */
export function entryPath(name: string, separator: '/' | '\\'): EntryPath {
  if (characters(name) > PATH_MAX_CHARACTERS) return { refused: `has a path of more than ${PATH_MAX_CHARACTERS} characters` };
  if (name.includes('\0')) return { refused: 'has a name with a zero byte in it' };
  if (name === '') return { refused: 'has no name' };
  if (/^[/\\]/.test(name) || DRIVE.test(name)) return { refused: 'has an absolute path' };
  const all = name.split(separator);
  if (all.includes('..')) return { refused: 'is outside of the folder' };
  const isFolder = all.at(-1) === '' || all.at(-1) === '.';
  const given = all.filter((part) => part !== '' && part !== '.');
  if (given[0] === '__MACOSX' || SYSTEM_FILE.test(given.at(-1) ?? '')) return { isSystemFile: true };
  const names = given.map((part) => {
    const normal = normalName(part);
    return nameFault(normal) === null ? normal : (nameFrom(normal) ?? NAMELESS);
  });
  return { names, isFolder, isAdapted: names.some((each, at) => each !== normalName(given[at] ?? '')) };
}
