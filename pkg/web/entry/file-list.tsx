import { useCallback, useState } from 'preact/hooks';
import type { Api, FileItem } from './api.ts';
import { type Failed, usePages } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { Preview } from './preview.tsx';
import { filesInWords, type Refusal, sizeInWords, timeInWords } from './messages.ts';

interface FileProps {
  readonly file: FileItem;
  readonly api: Api;
  readonly failed: Failed;
}

/** The files of the folder, page by page, each with a download. A change of `changes` fetches the list again. */
export function FileList(props: { api: Api; folderId: string; failed: Failed; changes: number }) {
  const { api, folderId, failed, changes } = props;
  const ask = useCallback((cursor?: string) => api.files(folderId, cursor), [api, folderId]);
  const { items: files, isMore, isBusy, refusal, next } = usePages(ask, failed, changes);

  return (
    <section aria-labelledby="files-heading">
      <h2 id="files-heading">Files</h2>
      <p role="status">{statusOf(files, isMore, isBusy)}</p>
      {files && files.length > 0 && (
        <ul class="files" aria-label="Files">
          {files.map((file) => (
            <FileRow key={file.id} file={file} api={api} failed={failed} />
          ))}
        </ul>
      )}
      {refusal && <RefusalNote refusal={refusal} onRetry={next} />}
      {isMore && !refusal && (
        <button type="button" disabled={isBusy} onClick={next}>
          Show more
        </button>
      )}
    </section>
  );
}

function statusOf(files: readonly FileItem[] | undefined, isMore: boolean, isBusy: boolean): string {
  if (!files) return isBusy ? 'Loading …' : '';
  return files.length === 0 ? 'There are no files here yet.' : filesInWords(files.length, isMore);
}

const FileRow = (props: FileProps) => (
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
      <button type="button" aria-label={`Preview ${file.name}`} onClick={() => setPreviewed(true)}>
        Preview
      </button>
      <button type="button" aria-label={`Download ${file.name}`} onClick={download}>
        Download
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
