import type { Entry } from './entry.ts';

/** Marks what is dragged as ours; dropped files of a desktop have another type, and are uploads. */
const TYPE = 'application/x-carrel-entries';

/** The browser hides what is dragged until it is dropped, and it never leaves this tab. */
let dragged: readonly Entry[] = [];

/** The attributes of an element that entries are dragged by. */
export const dragProps = (entries: () => readonly Entry[]) => ({
  draggable: true,
  onDragStart: (event: DragEvent) => {
    dragged = entries();
    event.dataTransfer?.setData(TYPE, '');
    if (event.dataTransfer) event.dataTransfer.effectAllowed = 'move';
  },
  onDragEnd: () => (dragged = []),
});

const isOurs = (event: DragEvent): boolean => event.dataTransfer?.types.includes(TYPE) === true && dragged.length > 0;

const mark = (event: DragEvent, isOver: boolean): void => {
  const { dataset } = event.currentTarget as HTMLElement;
  if (isOver) dataset.over = '';
  else delete dataset.over;
};

/** The attributes of an element that stands for a folder, into which dragged entries may be dropped. */
export const dropProps = (folderId: string, onDrop: (entries: readonly Entry[]) => void) => {
  const accept = (event: DragEvent): void => {
    if (!isOurs(event) || dragged.some(({ id }) => id === folderId)) return;
    event.preventDefault();
    mark(event, true);
  };
  return {
    onDragEnter: accept,
    onDragOver: accept,
    onDragLeave: (event: DragEvent) => mark(event, false),
    onDrop: (event: DragEvent) => {
      mark(event, false);
      if (!isOurs(event)) return;
      event.preventDefault();
      event.stopPropagation();
      onDrop(dragged);
      dragged = [];
    },
  };
};
