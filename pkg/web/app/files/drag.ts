import { announce } from '../../design/live-region.tsx';
import { count, t } from '../../text/files.ts';
import { IS_MAC } from '../shell/shortcuts.ts';
import { type Entry, isMovable } from './entry.ts';
import type { Meant } from './meant.ts';

/** Marks what is dragged as ours; dropped files of a desktop have another type, and are uploads. */
const TYPE = 'application/x-carrel-entries';

/** The browser hides what is dragged until it is dropped, and it never leaves this tab. */
let dragged: Meant | undefined;
/** The text that was said last: the events of a drag come many times a second. */
let said = '';

const end = (): void => {
  dragged = undefined;
  said = '';
};

/** The attributes of an element that entries are dragged by. */
export const dragProps = (meant: () => Meant) => ({
  draggable: true,
  onDragStart: (event: DragEvent) => {
    dragged = meant();
    event.dataTransfer?.setData(TYPE, '');
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove';
  },
  onDragEnd: end,
});

/** Returns what is dragged, unless that is something of the desktop. */
const oursOf = (event: DragEvent): Meant | undefined => (event.dataTransfer?.types.includes(TYPE) ? dragged : undefined);

/** The key with which desktops copy what is dropped: Ctrl, on a Mac Option. */
const isCopying = ({ ctrlKey, altKey }: DragEvent): boolean => (IS_MAC ? altKey : ctrlKey);

const mark = (event: DragEvent, effect: 'copy' | 'move' | undefined): void => {
  const { dataset } = event.currentTarget as HTMLElement;
  if (effect) dataset.over = effect;
  else delete dataset.over;
};

const say = (text: string): void => {
  if (text !== said) announce(text);
  said = text;
};

/** Somewhere that entries go. */
interface Target {
  readonly id: string;
  readonly name: string;
}

/**
 * The attributes of an element that stands for a folder, into which dragged entries may be dropped: to be moved there, or with
 * the key for it to be copied. The cursor and a spoken text say which.
 */
export const dropProps = (folder: Target, onDrop: (entries: readonly Entry[], isCopy: boolean) => void) => {
  const accept = (event: DragEvent): void => {
    const ours = oursOf(event);
    if (!ours || ours.loaded.some(({ id }) => id === folder.id)) return;
    const effect = isCopying(event) ? 'copy' : 'move';
    if (effect === 'move' && !ours.loaded.every(isMovable)) return mark(event, undefined);
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = effect;
    mark(event, effect);
    const { name } = folder;
    if (ours.count === undefined) say(t(effect === 'copy' ? 'dropCopiesAll' : 'dropMovesAll', { name }));
    else say(count(effect === 'copy' ? 'dropCopies' : 'dropMoves', ours.count, { name }));
  };
  return {
    onDragEnter: accept,
    onDragOver: accept,
    onDragLeave: (event: DragEvent) => {
      // From one part of the element to another it is still there.
      if (event.relatedTarget instanceof Node && (event.currentTarget as HTMLElement).contains(event.relatedTarget)) return;
      mark(event, undefined);
      said = '';
    },
    onDrop: (event: DragEvent) => {
      mark(event, undefined);
      const isCopy = isCopying(event);
      const ours = oursOf(event);
      if (!ours || (!isCopy && !ours.loaded.every(isMovable))) return;
      event.preventDefault();
      event.stopPropagation();
      ours.withAll((entries) => onDrop(entries, isCopy));
      end();
    },
  };
};
