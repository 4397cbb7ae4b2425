import { useId, useRef } from 'preact/hooks';
import { EndlessList } from '../design/endless-list.tsx';
import { FileIcon, KindIcon } from '../design/file-icon.tsx';
import { useVisibleRows } from '../design/grid/use-visible-rows.ts';
import { Icon } from '../design/icon.tsx';
import { DateTime, FileSize } from '../design/measures.tsx';
import { count, t } from '../text/share.ts';
import type { Child } from './link.ts';
import type { Children } from './use-children.ts';

interface Props {
  readonly label: string;
  readonly list: Children;
  readonly rows: readonly Child[];
  /** A field of the API; a leading `-` reverses the order. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** No download begins any more. */
  readonly isUsedUp: boolean;
  readonly addressOf: (file: Child) => string;
  readonly onOpen: (folder: Child) => void;
  readonly onDownload: (file: Child) => void;
}

/**
 * Folders first, then files; the next page comes as the end of the list comes near. A folder may have 10,000 entries, so only
 * the rows on the screen exist, and padding stands for the others. Its layout is no table's, so it says by roles that it is one.
 */
export function ChildTable({ label, list, rows, sort, onSort, ...of }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const countId = useId();
  const { start, end, row } = useVisibleRows(body, rows.length);
  const heading = (field: 'name' | 'updated_at', text: string) => {
    const isSorted = sort === field || sort === `-${field}`;
    const order = sort.startsWith('-') ? 'descending' : 'ascending';
    // A time begins with the newest, a name with A; the same heading again turns the order round.
    const next = sort === field || (!isSorted && field === 'updated_at') ? `-${field}` : field;
    return (
      <th role="columnheader" scope="col" class={`share-of-${field}`} {...(isSorted ? { 'aria-sort': order } : {})}>
        <button type="button" class="share-sort" onClick={() => onSort(next)}>
          {text}
          {isSorted && <Icon name={order === 'ascending' ? 'chevron-up' : 'chevron-down'} size="s" />}
        </button>
      </th>
    );
  };
  return (
    <EndlessList
      isMore={list.isMore}
      isLoading={list.isLoading}
      hasFailed={list.problem !== undefined}
      moreLabel={t('loadMore')}
      onMore={list.more}
    >
      <table
        role="table"
        class="share-table"
        aria-label={label}
        aria-describedby={countId}
        aria-rowcount={list.isMore ? -1 : rows.length + 1}
      >
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {heading('name', t('name'))}
            <th role="columnheader" scope="col" class="share-of-size">
              {t('size')}
            </th>
            {heading('updated_at', t('changed'))}
          </tr>
        </thead>
        <tbody
          ref={body}
          role="rowgroup"
          style={{ paddingBlockStart: `${start * row}px`, paddingBlockEnd: `${(rows.length - end) * row}px` }}
        >
          {rows.slice(start, end).map((child, index) => (
            // The headings are the first row.
            <ChildRow key={child.id} child={child} index={start + index + 2} {...of} />
          ))}
        </tbody>
      </table>
      <p id={countId} class="share-count">
        {foundInWords(rows.length, list.isMore)}
      </p>
    </EndlessList>
  );
}

/** Returns how long a list is; nobody counts one that is longer than what is loaded. */
export const foundInWords = (loaded: number, isMore: boolean): string =>
  isMore ? count('loaded', loaded) : count('items', loaded);

type RowProps = Pick<Props, 'isUsedUp' | 'addressOf' | 'onOpen' | 'onDownload'> & {
  readonly child: Child;
  readonly index: number;
};

function ChildRow({ child, index, isUsedUp, addressOf, onOpen, onDownload }: RowProps) {
  const download = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
    event.preventDefault();
    onDownload(child);
  };
  return (
    <tr role="row" aria-rowindex={index}>
      <th role="rowheader" scope="row" class="share-of-name">
        <span class="share-name">
          {child.type === 'folder' ? (
            <KindIcon kind="folder" label={t('folder')} />
          ) : (
            <FileIcon mimeType={child.mime_type} name={child.name} />
          )}
          {child.type === 'folder' ? (
            <button type="button" class="share-open" title={child.name} onClick={() => onOpen(child)}>
              {child.name}
            </button>
          ) : isUsedUp ? (
            <span class="share-open">{child.name}</span>
          ) : (
            <a class="share-open" href={addressOf(child)} title={child.name} download="" onClick={download}>
              {child.name}
            </a>
          )}
        </span>
      </th>
      <td role="cell" class="share-of-size">
        {child.type === 'file' && <FileSize bytes={child.size} />}
      </td>
      <td role="cell" class="share-of-updated_at">
        <DateTime value={child.updated_at} />
      </td>
    </tr>
  );
}
