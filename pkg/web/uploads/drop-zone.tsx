import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import './drop-zone.css';

interface Props {
  /** Undefined: nothing can be dropped here. */
  readonly onDrop: ((items: DataTransferItemList) => void) | undefined;
  readonly text: string;
  readonly hint?: string | undefined;
}

/** Takes files and folders that are dropped anywhere on the page, and shows where they go while they are held over it. */
export function DropZone({ onDrop, text, hint }: Props) {
  const isOver = useDrop((items) => onDrop?.(items));
  if (!isOver) return null;
  return (
    <div class="drop-zone">
      <div class="drop-zone-card">
        <Icon name={onDrop ? 'upload' : 'info'} size="l" />
        <p class="drop-zone-text">{text}</p>
        {hint !== undefined && <p class="drop-zone-hint">{hint}</p>}
      </div>
    </div>
  );
}

/** Returns whether files from outside of the browser are held over the page. */
function useDrop(onDrop: (items: DataTransferItemList) => void): boolean {
  const [isOver, setOver] = useState(false);
  const drop = useRef(onDrop);
  drop.current = onDrop;
  // Before anything is painted: a file that is dropped without the listeners replaces the page.
  useLayoutEffect(() => {
    // An element that is entered and one that is left are reported apart.
    let depth = 0;
    // Chromium lists a picture of the page that is dragged as a file.
    let isOwn = false;
    const hasFiles = (event: DragEvent): boolean => (!isOwn && event.dataTransfer?.types.includes('Files')) ?? false;
    const change = (by: 1 | -1) => (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Without this the browser ignores a drop on an element that was entered last, before it reports that it is held over it.
      event.preventDefault();
      depth = Math.max(0, depth + by);
      setOver(depth > 0);
    };
    const [enter, leave] = [change(1), change(-1)];
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      // Without this the browser opens a dropped file in place of the page.
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    };
    const end = (event: DragEvent): void => {
      depth = 0;
      setOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) drop.current(event.dataTransfer.items);
    };
    const start = (): void => void (isOwn = true);
    const stop = (): void => void (isOwn = false);
    const listeners = { dragstart: start, dragend: stop, dragenter: enter, dragleave: leave, dragover: over, drop: end } as const;
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name as keyof typeof listeners, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name as keyof typeof listeners, listener);
    };
  }, []);
  return isOver;
}
