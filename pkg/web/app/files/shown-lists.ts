import type { EntryList } from './entry-list.ts';

const shown = new Set<EntryList>();

/** Keeps a list current while it is shown; returns the function that ends that. */
export function keepCurrent(list: EntryList): () => void {
  shown.add(list);
  return () => shown.delete(list);
}

/** Reads the shown list again: files were changed here, perhaps on a page that the person has left. */
export async function reloadShown(): Promise<void> {
  await Promise.all([...shown].map((list) => list.reload()));
}
