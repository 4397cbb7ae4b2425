import type { ImportItem } from './imports.sql.ts';

const ENTRIES_FIRST = 20;
const ENTRIES_MAX = 100;
const STEP_MS = 200;
/** A path of an archive may be deep, and a step may have to create a folder for each of its names. */
const FOLDERS_MAX = 100;
const DEPTH_MAX = 100;

/**
 * The number of entries that one step turns into files. A step locks folders and its owner's row, for which the owner's other
 * requests wait. The number is adapted so that a step takes about STEP_MS, whatever its entries cost.
 */
export class StepSize {
  #entries = ENTRIES_FIRST;

  get entries(): number {
    return this.#entries;
  }

  /** Records how long a step took, in ms. */
  took(duration: number): void {
    const wanted = Math.round(this.#entries * Math.min(2, STEP_MS / Math.max(1, duration)));
    this.#entries = Math.max(1, Math.min(ENTRIES_MAX, wanted));
  }
}

/** Returns the first ones, at least one, whose folders are no more than FOLDERS_MAX even if none exists yet. */
export function withFewFolders(items: readonly ImportItem[]): ImportItem[] {
  const seen = new Set<string>();
  let folders = 0;
  const end = items.findIndex(({ entry }, at) => {
    const names = entry.isFolder ? entry.names : entry.names.slice(0, -1);
    const path = names.join('/');
    if (!seen.has(path)) folders += Math.min(names.length, DEPTH_MAX);
    seen.add(path);
    return folders > FOLDERS_MAX && at > 0;
  });
  return items.slice(0, end === -1 ? items.length : end);
}
