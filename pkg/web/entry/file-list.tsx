import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api, FileItem, FilePage } from './api.ts';
import { RefusalNote } from './notes.tsx';
import { filesInWords, type Refusal, sizeInWords, timeInWords } from './messages.ts';

/** The files of the folder, page by page, each with a download. A change of `changes` fetches the list again. */
export function FileList(props: { api: Api; folderId: string; failed: (error: unknown) => Refusal; changes: number }) {
  const { api, folderId, failed, changes } = props;
  const [files, setFiles] = useState<readonly FileItem[]>();
  const [cursor, setCursor] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  /** Number of the latest request: a late reply to an earlier one is ignored. */
  const latest = useRef(0);

  const ask = useCallback(
    (from: string | null) => {
      const question = ++latest.current;
      const ifLatest = (show: () => void): void => {
        if (question !== latest.current) return;
        setBusy(false);
        show();
      };
      setBusy(true);
      setRefusal(undefined);
      const add = ({ data, pagination }: FilePage): void => {
        setFiles((before) => (from === null ? data : [...(before ?? []), ...data]));
        setCursor(pagination.has_more ? pagination.next_cursor : null);
      };
      api.files(folderId, from ?? undefined).then(
        (page) => ifLatest(() => add(page)),
        (error: unknown) => ifLatest(() => setRefusal(failed(error))),
      );
    },
    [api, folderId, failed],
  );
  useEffect(() => ask(null), [ask, changes]);

  return (
    <section aria-labelledby="files-heading">
      <h2 id="files-heading">Files</h2>
      <p role="status">{statusOf(files, cursor !== null, isBusy)}</p>
      {files && files.length > 0 && (
        <ul class="files" aria-label="Files">
          {files.map((file) => (
            <FileRow key={file.id} file={file} api={api} failed={failed} />
          ))}
        </ul>
      )}
      {refusal && <RefusalNote refusal={refusal} onRetry={() => ask(files ? cursor : null)} />}
      {cursor !== null && !refusal && (
        <button type="button" disabled={isBusy} onClick={() => ask(cursor)}>
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

export function FileRow({ file, api, failed }: { file: FileItem; api: Api; failed: (error: unknown) => Refusal }) {
  const [refusal, setRefusal] = useState<Refusal>();
  const download = (): void => {
    setRefusal(undefined);
    api.ticket(file.id).then(save, (error: unknown) => setRefusal(failed(error)));
  };
  return (
    <li>
      <span class="name">{file.name}</span>
      <span class="facts">
        {sizeInWords(file.size)}, <time dateTime={file.updated_at}>{timeInWords(file.updated_at)}</time>
      </span>
      <button type="button" aria-label={`Download ${file.name}`} onClick={download}>
        Download
      </button>
      {refusal && <RefusalNote refusal={refusal} />}
    </li>
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
