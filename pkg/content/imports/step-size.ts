import type { ImportItem } from './imports.sql.ts';

const ENTRIES_FIRST = 20;
const ENTRIES_MAX = 100;
const STEP_MS = 200;
/** Paths of an archive may be deep: each may have its step make as many folders as it has names. */
const FOLDERS_MAX = 100;
const DEPTH_MAX = 100;

/**
 * Entries that are made files in one step. It holds folders, and its owner's row, for which their other requests wait: so a step
 * is to last about STEP_MS, whatever its entries cost.
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
