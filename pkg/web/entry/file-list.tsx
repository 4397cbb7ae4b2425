import { useCallback, useState } from 'preact/hooks';
import type { Api, Entry, FileItem, FolderEntry } from './api.ts';
import { FolderRow } from './folders.tsx';
import { type Failed, usePages } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { Preview } from './preview.tsx';
import { entriesInWords, type Refusal, sizeInWords } from './messages.ts';
import { t, timeInWords } from '../text/text.ts';

interface FileProps {
  readonly file: FileItem;
  readonly api: Api;
  readonly failed: Failed;
}

interface ListProps extends Omit<FileProps, 'file'> {
  readonly folderId: string;
  /** A change of it fetches the list again. */
  readonly changes: number;
  readonly onOpen: (folder: FolderEntry) => void;
}

/** What is in a folder, page by page. */
export function FileList({ api, folderId, failed, changes, onOpen }: ListProps) {
  const ask = useCallback((cursor?: string) => api.children(folderId, cursor), [api, folderId]);
  const { items, isMore, isBusy, refusal, next } = usePages(ask, failed, changes);

  return (
    <>
      <p role="status">{statusOf(items, isMore, isBusy)}</p>
      {items && items.length > 0 && (
        <ul class="files" aria-label={t('files')}>
          {items.map((entry) =>
            entry.type === 'folder' ? (
              <FolderRow key={entry.id} folder={entry} onOpen={onOpen} />
            ) : (
              <FileRow key={entry.id} file={entry} api={api} failed={failed} />
            ),
          )}
        </ul>
      )}
      {refusal && <RefusalNote refusal={refusal} onRetry={next} />}
      {isMore && !refusal && (
        <button type="button" disabled={isBusy} onClick={next}>
          {t('showMore')}
        </button>
      )}
    </>
  );
}

function statusOf(entries: readonly Entry[] | undefined, isMore: boolean, isBusy: boolean): string {
  if (!entries) return isBusy ? t('loading') : '';
  if (entries.length === 0) return t('noFiles');
  const folders = entries.filter(({ type }) => type === 'folder').length;
  return entriesInWords(folders, entries.length - folders, isMore);
}

export const FileRow = (props: FileProps) => (
  <li>
    <span class="name">{props.file.name}</span>
    <FileActions {...props} />
  </li>
);

/** What is known of a file, and what can be done with it. */
export function FileActions({ file, api, failed }: FileProps) {
  const [isPreviewed, setPreviewed] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const download = (): void => {
    setRefusal(undefined);
    api.ticket(file.id).then(save, (error: unknown) => setRefusal(failed(error)));
  };
  return (
    <>
      <span class="facts">
        {sizeInWords(file.size)}, <time dateTime={file.updated_at}>{timeInWords(file.updated_at)}</time>
      </span>
      <button type="button" aria-label={t('previewOf', { name: file.name })} onClick={() => setPreviewed(true)}>
        {t('preview')}
      </button>
      <button type="button" aria-label={t('downloadOf', { name: file.name })} onClick={download}>
        {t('download')}
      </button>
      {refusal && <RefusalNote refusal={refusal} />}
      {isPreviewed && <Preview api={api} file={file} failed={failed} onClose={() => setPreviewed(false)} />}
    </>
  );
}

/** The browser saves the content as it arrives; the page stays open. */
export function save(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
