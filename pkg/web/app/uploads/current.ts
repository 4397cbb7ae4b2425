import { useEffect, useRef } from 'preact/hooks';
import { Observed } from '../../api/observed.ts';
import { useObserved } from '../use-observed.ts';
import type { Uploader } from '../../uploads/uploader.ts';

/** The folder that dropped files go to. */
export interface DropTarget {
  /** null: the person's own root. */
  readonly folderId: string | null;
  readonly name: string;
}

/** The uploads of the person who is signed in. They outlive the page that started them. */
export const uploads = new Observed<Uploader | undefined>(undefined);

/** The target of what is dropped; undefined where the page shows no folder. */
export const dropTarget = new Observed<DropTarget | undefined>(undefined);

/** So often a list of files is read again at most while files arrive in it. */
const RELOAD_MS = 3_000;

/** Calls back, now and then, while uploads arrive in a folder or below it, and after the last of them. */
export function useArrivals(folderId: string | null, onArrival: () => void): void {
  const uploader = useObserved(uploads);
  const latest = useRef(onArrival);
  latest.current = onArrival;
  useEffect(() => {
    if (!uploader) return undefined;
    let seen = uploader.doneIn(folderId);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = uploader.subscribe(() => {
      if (uploader.doneIn(folderId) === seen) return;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          seen = uploader.doneIn(folderId);
          latest.current();
        },
        uploader.queue.isUnderWay ? RELOAD_MS : 0,
      );
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [uploader, folderId]);
}

/** Makes a folder the target of what is dropped, while the calling component is shown. */
export function useDropTarget(target: DropTarget | undefined): void {
  useEffect(() => {
    dropTarget.set(target);
    return () => dropTarget.set(undefined);
  }, [target?.folderId, target?.name]);
}
