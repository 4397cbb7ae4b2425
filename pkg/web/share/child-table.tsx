import { useMemo, useRef } from 'preact/hooks';
import { EndlessList } from '../design/endless-list.tsx';
import { FileIcon, KindIcon } from '../design/file-icon.tsx';
import { Icon } from '../design/icon.tsx';
import { DateTime, FileSize } from '../design/measures.tsx';
import { t } from '../text/share.ts';
import type { Child } from './link.ts';
import type { Children } from './use-children.ts';

interface Props {
  readonly label: string;
  readonly list: Children;
  readonly pages: readonly (readonly Child[])[];
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
 * Folders first, then files; the next page comes as the end of the list comes near. Its layout is no table's, so it says by roles
 * that it is one.
 */
export function ChildTable({ label, list, pages, sort, onSort, ...rows }: Props) {
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
      <table role="table" class="share-table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {heading('name', t('name'))}
            <th role="columnheader" scope="col" class="share-of-size">
              {t('size')}
            </th>
            {heading('updated_at', t('changed'))}
          </tr>
        </thead>
        {pages.map((page, index) => (
          <ChildRows key={index} page={page} {...rows} />
        ))}
      </table>
    </EndlessList>
  );
}

type RowsProps = Pick<Props, 'isUsedUp' | 'addressOf' | 'onOpen' | 'onDownload'> & { readonly page: readonly Child[] };

/** The rows of a page. They are rendered again only when they change, and laid out near the screen: a folder may have 10,000. */
function ChildRows({ page, ...props }: RowsProps) {
  const latest = useRef(props);
  latest.current = props;
  const { isUsedUp, addressOf } = props;
  return useMemo(
    () => (
      <tbody role="rowgroup" style={{ '--rows': page.length }}>
        {page.map((child) => (
          <tr role="row" key={child.id}>
            <th role="rowheader" scope="row" class="share-of-name">
              <span class="share-name">
                {child.type === 'folder' ? <KindIcon kind="folder" /> : <FileIcon mimeType={child.mime_type} name={child.name} />}
                {child.type === 'folder' ? (
                  <button type="button" class="share-open" title={child.name} onClick={() => latest.current.onOpen(child)}>
                    {child.name}
                  </button>
                ) : isUsedUp ? (
                  <span class="share-open">{child.name}</span>
                ) : (
                  <a
                    class="share-open"
                    href={addressOf(child)}
                    title={child.name}
                    download=""
                    onClick={(event) => {
                      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
                      event.preventDefault();
                      latest.current.onDownload(child);
                    }}
                  >
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
        ))}
      </tbody>
    ),
    [page, isUsedUp],
  );
}
