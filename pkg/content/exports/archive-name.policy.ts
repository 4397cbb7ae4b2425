import { NAME_MAX_CHARACTERS } from '../model/names/names.policy.ts';

const ENDING = '.zip';

/** Returns the name of an archive with its ending. A long name is cut between two characters, never within one. */
export const archiveName = (name: string): string =>
  `${Array.from(name)
    .slice(0, NAME_MAX_CHARACTERS - ENDING.length)
    .join('')}${ENDING}`;
