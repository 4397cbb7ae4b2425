import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type DropTarget, UploadsContext } from './context.ts';
import { DropZone } from './drop-zone.tsx';
import { Panel } from './panel.tsx';
import type { Uploader } from './uploader.ts';

interface Props {
  readonly uploader: Uploader;
  /** Reads a text out, politely. */
  readonly announce: (text: string) => void;
  readonly children: ComponentChildren;
}

/** Uploads for all pages within: the panel, and the drop zone for the folder that a page makes the target. */
export function Uploads({ uploader, announce, children }: Props) {
  const [target, setTarget] = useState<DropTarget>();
  const value = useMemo(() => ({ uploader, target, setTarget }), [uploader, target]);
  return (
    <UploadsContext.Provider value={value}>
      {children}
      <Panel uploader={uploader} announce={announce} />
      <DropZone uploader={uploader} target={target} />
    </UploadsContext.Provider>
  );
}
