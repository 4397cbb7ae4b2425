import type { Entry } from './entry.ts';
import { marked } from './marked-name.tsx';

interface Props {
  readonly entry: Entry;
  readonly onOpen: (entry: Entry) => void;
  /** −1 where the keyboard goes from cell to cell. */
  readonly tabIndex?: number | undefined;
}

/**
 * Says whether it is the second click of a double click. By then another entry may be where the first one was: that of a folder
 * that it has opened.
 */
const isSecond = ({ detail }: MouseEvent): boolean => detail > 1;

/** The name of an entry, which opens it. That of a folder is a link, so that it opens in another tab too. */
export function OpenName({ entry, onOpen, tabIndex = 0 }: Props) {
  const { type, id, name, highlight, expiresAt } = entry;
  const shown = highlight === undefined ? name : marked(highlight);
  const shared = { class: 'files-open', title: name, tabIndex, draggable: false };
  // In the trash nothing opens.
  if (expiresAt !== undefined)
    return (
      <span class="files-open files-open-not" title={name}>
        {shown}
      </span>
    );
  if (type === 'folder')
    return (
      <a
        {...shared}
        href={`/files/${id}`}
        onClick={(event) => {
          if (!isSecond(event)) return;
          event.preventDefault();
          // The router takes it all the same.
          event.stopPropagation();
        }}
      >
        {shown}
      </a>
    );
  return (
    <button {...shared} type="button" onClick={(event) => isSecond(event) || onOpen(entry)}>
      {shown}
    </button>
  );
}
