import { useEffect, useRef } from 'preact/hooks';
import { EndlessList } from '../../design/endless-list.tsx';
import { KindIcon } from '../../design/file-icon.tsx';
import { useVisibleRows } from '../../design/grid/use-visible-rows.ts';
import { t } from '../../text/files.ts';
import type { Entry } from './entry.ts';
import { marked } from './marked-name.tsx';
import type { Entries } from './use-entries.ts';

interface Props {
  readonly label: string;
  readonly folders: readonly Entry[];
  /** The list of which the folders are, as far as it is loaded. */
  readonly entries: Entries;
  /** Folders of many places: each with its path. */
  readonly hasPaths: boolean;
  readonly onOpen: (folder: Entry) => void;
}

/** Folders to choose from, of which only those near the screen exist. The arrows go from one to the next, Enter opens. */
export function FolderChoices({ label, folders, entries, hasPaths, onOpen }: Props) {
  const { rows, isLoading, problem, list } = entries;
  const body = useRef<HTMLUListElement>(null);
  const { start, end, row } = useVisibleRows(body, folders.length);
  const wasOpened = useRef(false);
  // The button that was pressed is gone with its folder: the focus waits at the list that takes its place.
  useEffect(() => {
    if (wasOpened.current) body.current?.focus({ preventScroll: true });
    wasOpened.current = false;
    body.current?.parentElement?.scrollTo(0, 0);
  }, [list]);
  const press = (event: KeyboardEvent): void => {
    const ways: Readonly<Record<string, 'nextElementSibling' | 'previousElementSibling'>> = {
      ArrowDown: 'nextElementSibling',
      ArrowUp: 'previousElementSibling',
    };
    const way = ways[event.key];
    if (way === undefined) return;
    const item = (event.target as HTMLElement).closest('li');
    const next = item ? item[way] : body.current?.firstElementChild;
    if (!next) return;
    event.preventDefault();
    next.querySelector('button')?.focus();
  };
  return (
    <div class="files-folders">
      <EndlessList
        isMore={rows.next !== null && rows.next !== undefined}
        isLoading={isLoading}
        hasFailed={problem !== undefined}
        moreLabel={t('loadMore')}
        onMore={() => void list.more()}
      >
        <ul
          ref={body}
          role="list"
          tabIndex={-1}
          aria-label={label}
          class="files-folders-list"
          style={{ paddingBlockStart: `${start * row}px`, paddingBlockEnd: `${(folders.length - end) * row}px` }}
          onKeyDown={press}
        >
          {folders.slice(start, end).map((folder, offset) => (
            <li key={folder.id} aria-setsize={rows.total === undefined ? -1 : folders.length} aria-posinset={start + offset + 1}>
              <button
                type="button"
                class="files-folder"
                onClick={({ detail }) => {
                  // The second click of a double click: this folder has come under the pointer meanwhile.
                  if (detail > 1) return;
                  wasOpened.current = true;
                  onOpen(folder);
                }}
              >
                <KindIcon kind="folder" />
                <span class="files-name">{folder.highlight === undefined ? folder.name : marked(folder.highlight)}</span>
                {hasPaths && <span class="files-name files-quiet">{folder.path}</span>}
              </button>
            </li>
          ))}
        </ul>
      </EndlessList>
    </div>
  );
}
