import { EndlessList } from '../design/endless-list.tsx';
import { FileIcon, KindIcon } from '../design/file-icon.tsx';
import { Icon } from '../design/icon.tsx';
import { DateTime, FileSize } from '../design/measures.tsx';
import { t } from '../text/share.ts';
import type { Child } from './link.ts';
import type { Children } from './use-children.ts';

interface Props {
  readonly label: string;
  readonly list: Children & { readonly items: readonly Child[] };
  /** A field of the API; a leading `-` reverses the order. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** No download begins any more. */
  readonly isUsedUp: boolean;
  readonly addressOf: (file: Child) => string;
  readonly onOpen: (folder: Child) => void;
  readonly onDownload: (file: Child) => void;
}

/** Folders first, then files; the next page comes as the end of the list comes near. */
export function ChildTable({ label, list, sort, onSort, isUsedUp, addressOf, onOpen, onDownload }: Props) {
  const heading = (field: 'name' | 'updated_at', text: string) => {
    const isSorted = sort === field || sort === `-${field}`;
    const order = sort.startsWith('-') ? 'descending' : 'ascending';
    // A time begins with the newest, a name with A; the same heading again turns the order round.
    const next = sort === field || (!isSorted && field === 'updated_at') ? `-${field}` : field;
    return (
      <th scope="col" class={`share-of-${field}`} {...(isSorted ? { 'aria-sort': order } : {})}>
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
      <table class="share-table" aria-label={label}>
        <thead>
          <tr>
            {heading('name', t('name'))}
            <th scope="col" class="share-of-size">
              {t('size')}
            </th>
            {heading('updated_at', t('changed'))}
          </tr>
        </thead>
        <tbody>
          {list.items.map((child) => (
            <tr key={child.id}>
              <th scope="row" class="share-of-name">
                <span class="share-name">
                  {child.type === 'folder' ? (
                    <KindIcon kind="folder" />
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
                    <a
                      class="share-open"
                      href={addressOf(child)}
                      title={child.name}
                      download=""
                      onClick={(event) => {
                        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
                        event.preventDefault();
                        onDownload(child);
                      }}
                    >
                      {child.name}
                    </a>
                  )}
                </span>
              </th>
              <td class="share-of-size">{child.type === 'file' && <FileSize bytes={child.size} />}</td>
              <td class="share-of-updated_at">
                <DateTime value={child.updated_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </EndlessList>
  );
}
