import { type Dropped, droppedOf } from '../../uploads/walk.ts';

/** `path`: of the page on which they were dropped. */
const kept: { readonly path: string; readonly dropped: readonly Dropped[] }[] = [];

const isOfFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/** Says that files may be dropped here, both on what the pointer enters and on what it is over. */
const accept = (event: DragEvent): void => {
  if (isOfFiles(event)) event.preventDefault();
};

const drop = (event: DragEvent): void => {
  if (!event.dataTransfer || !isOfFiles(event)) return;
  event.preventDefault();
  kept.push({ path: location.pathname, dropped: droppedOf(event.dataTransfer.items) });
};

/**
 * Keeps the files and folders that somebody drops before the page can upload. Without this the browser opens a dropped file in
 * place of the page.
 */
export function keepEarlyDrops(): void {
  addEventListener('dragenter', accept);
  addEventListener('dragover', accept);
  addEventListener('drop', drop);
}

/** Discards what was kept: it was dropped while nobody was signed in, and not by whoever signs in next. */
export const forgetEarlyDrops = (): void => void kept.splice(0);

/** Returns what was kept for the page that is shown, and keeps no more: the page takes what is dropped from now on. */
export function takeEarlyDrops(): Dropped[] {
  removeEventListener('dragenter', accept);
  removeEventListener('dragover', accept);
  removeEventListener('drop', drop);
  return kept.splice(0).flatMap(({ path, dropped }) => (path === location.pathname ? dropped : []));
}
