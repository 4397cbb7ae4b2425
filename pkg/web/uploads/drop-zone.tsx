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

/** Marks what is dragged from the page itself: Chromium lists a picture of a page as a file. */
const OWN = 'application/x-carrel-own';

const hasFiles = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer !== null && dataTransfer.types.includes('Files') && !dataTransfer.types.includes(OWN);

/** Returns whether files from outside of the browser are held over the page. */
function useDrop(onDrop: (items: DataTransferItemList) => void): boolean {
  const [isOver, setOver] = useState(false);
  const drop = useRef(onDrop);
  drop.current = onDrop;
  // Before anything is painted: a file that is dropped without the listeners replaces the page.
  useLayoutEffect(() => {
    /** What the files are over: what is entered is reported before what is left. */
    const entered = new Set<Node>();
    const move = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      // Without this the browser ignores a drop on an element that was entered last, before it reports that it is held over it.
      event.preventDefault();
      if (event.type === 'dragenter') entered.add(event.target as Node);
      else entered.delete(event.target as Node);
      // An element that has left the page meanwhile reports nothing.
      for (const element of entered) if (!element.isConnected) entered.delete(element);
      setOver(entered.size > 0);
    };
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      // Without this the browser opens a dropped file in place of the page.
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    };
    const end = (event: DragEvent): void => {
      entered.clear();
      setOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) drop.current(event.dataTransfer.items);
    };
    // No state that `dragend` would end: a row that is moved leaves the page before that, and the event with it.
    const mark = ({ dataTransfer }: DragEvent): void => dataTransfer?.setData(OWN, '');
    const listeners = { dragstart: mark, dragenter: move, dragleave: move, dragover: over, drop: end } as const;
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name as keyof typeof listeners, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name as keyof typeof listeners, listener);
    };
  }, []);
  return isOver;
}
