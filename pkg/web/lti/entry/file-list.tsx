import { useCallback, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { FileIcon } from '../../design/file-icon.tsx';
import type { Api, Entry, FileItem, FolderEntry } from './api.ts';
import { FolderRow } from './folders.tsx';
import { type Failed, usePages } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { PagedList } from './paged-list.tsx';
import { Preview } from './preview.tsx';
import { entriesInWords, type Refusal, sizeInWords } from './messages.ts';
import { timeInWords } from '../../text/language.ts';
import { t } from '../../text/lti.ts';

interface FileProps {
  readonly file: FileItem;
  readonly api: Api;
  readonly failed: Failed;
}

interface ListProps extends Omit<FileProps, 'file'> {
  readonly folderId: string;
  /** A change of this value fetches the list again. */
  readonly changes: number;
  readonly onOpen: (folder: FolderEntry) => void;
}

/** The contents of a folder, page by page. */
export function FileList({ api, folderId, failed, changes, onOpen }: ListProps) {
  const ask = useCallback((cursor?: string) => api.children(folderId, cursor), [api, folderId]);
  const list = usePages(ask, failed, changes);

  return (
    <PagedList
      list={list}
      class="files"
      label={t('files')}
      empty={t('noFiles')}
      shown={countOf}
      row={(entry) =>
        entry.type === 'folder' ? (
          <FolderRow key={entry.id} folder={entry} onOpen={onOpen} />
        ) : (
          <FileRow key={entry.id} file={entry} api={api} failed={failed} />
        )
      }
    />
  );
}

function countOf(entries: readonly Entry[], isMore: boolean): string {
  const folders = entries.filter(({ type }) => type === 'folder').length;
  return entriesInWords(folders, entries.length - folders, isMore);
}

export const FileRow = (props: FileProps) => (
  <li>
    <FileIcon mimeType={props.file.mime_type} name={props.file.name} />
    <span class="name">{props.file.name}</span>
    <FileActions {...props} />
  </li>
);

/** The facts about a file, and the actions on it. */
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
      <Button
        size="s"
        kind="quiet"
        icon="eye"
        aria-label={t('previewOf', { name: file.name })}
        onClick={() => setPreviewed(true)}
      >
        {t('preview')}
      </Button>
      <Button size="s" icon="download" aria-label={t('downloadOf', { name: file.name })} onClick={download}>
        {t('download')}
      </Button>
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
