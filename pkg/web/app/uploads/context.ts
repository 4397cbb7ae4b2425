import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Uploader } from './uploader.ts';

/** The folder that dropped files go to. */
export interface DropTarget {
  /** null: the person's own root. */
  readonly folderId: string | null;
  readonly name: string;
}

export interface UploadsValue {
  readonly uploader: Uploader;
  readonly target: DropTarget | undefined;
  readonly setTarget: (target: DropTarget | undefined) => void;
}

/** Undefined while nobody is signed in. */
export const UploadsContext = createContext<UploadsValue | undefined>(undefined);

/** Makes a folder the target of what is dropped, while the calling component is shown. Undefined: the page shows none. */
export function useDropTarget(target: DropTarget | undefined): void {
  const setTarget = useContext(UploadsContext)?.setTarget;
  useEffect(() => {
    setTarget?.(target);
    return () => setTarget?.(undefined);
  }, [setTarget, target?.folderId, target?.name]);
}

/** Renders the calling component again when the list of uploads has changed, at most ten times a second. */
export function useChanges(uploader: Uploader): void {
  const [, setTurn] = useState(0);
  useEffect(() => uploader.subscribe(() => setTurn((turn) => turn + 1)), [uploader]);
}
