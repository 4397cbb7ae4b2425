import { useRef, useState } from 'preact/hooks';
import type { Api, OnConflict, Uploaded } from './api.ts';
import { RefusalNote } from './notes.tsx';
import type { Refusal } from './messages.ts';

interface Upload {
  readonly id: number;
  readonly file: File;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  /** Whole percent of the bytes that are sent. */
  readonly percent: number;
  readonly refusal?: Refusal;
}

interface Props {
  readonly api: Api;
  /** null: the person's own root. */
  readonly folderId: string | null;
  readonly failed: (error: unknown) => Refusal;
  /** The last of those that wait has ended, and these were uploaded since the call before. */
  readonly onUploaded: (files: readonly Uploaded[]) => void;
}

/** Uploads of several files, one after the other; each shows its progress, and after an error what to do. */
export function Uploads({ api, folderId, failed, onUploaded }: Props) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [hasChoice, setChoice] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const nextId = useRef(0);
  const queue = useRef({ last: Promise.resolve(), waiting: 0, news: [] as Uploaded[], isOver: false });

  const change = (id: number, to: Partial<Upload>): void =>
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...to } : one)));

  const send = async ({ id, file }: Upload, onConflict: OnConflict): Promise<void> => {
    change(id, { state: 'sending' });
    try {
      const onProgress = (part: number): void => change(id, { percent: Math.floor(part * 100) });
      const uploaded = await api.upload(file, { folderId, onConflict, onProgress });
      change(id, { state: 'done', percent: 100 });
      queue.current.news.push(uploaded);
    } catch (error) {
      const refusal = failed(error);
      queue.current.isOver ||= refusal.code === 'unauthenticated';
      change(id, { state: 'failed', refusal });
    }
  };

  const enqueue = (upload: Upload, onConflict: OnConflict): void => {
    const line = queue.current;
    line.waiting += 1;
    line.last = line.last.then(async () => {
      if (!line.isOver) await send(upload, onConflict);
      line.waiting -= 1;
      if (line.waiting > 0 || line.news.length === 0) return;
      onUploaded(line.news.splice(0));
    });
  };

  const again = ({ id, file }: Upload, onConflict: OnConflict): void => {
    const upload: Upload = { id, file, state: 'waiting', percent: 0 };
    setUploads((all) => all.map((one) => (one.id === id ? upload : one)));
    enqueue(upload, onConflict);
  };

  const submit = (event: Event): void => {
    event.preventDefault();
    const chosen = [...(input.current?.files ?? [])].map((file): Upload => ({ id: nextId.current++, file, state: 'waiting', percent: 0 }));
    if (input.current) input.current.value = '';
    setChoice(false);
    setUploads((all) => [...all.filter(({ state }) => state !== 'done'), ...chosen]);
    for (const upload of chosen) enqueue(upload, 'fail');
  };

  return (
    <section aria-labelledby="upload-heading">
      <h2 id="upload-heading">Add files</h2>
      <form onSubmit={submit}>
        <label for="upload-input">Choose files</label>
        <input
          id="upload-input"
          ref={input}
          type="file"
          multiple
          onChange={(event) => setChoice((event.currentTarget.files?.length ?? 0) > 0)}
        />
        <button type="submit" disabled={!hasChoice}>
          Upload
        </button>
      </form>
      <p role="status">{statusOf(uploads)}</p>
      {uploads.length > 0 && (
        <ul class="uploads" aria-label="Uploads">
          {uploads.map((upload) => (
            <UploadRow key={upload.id} upload={upload} onRetry={(onConflict) => again(upload, onConflict)} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** For screen readers: the state of the uploads, not each percent. */
function statusOf(uploads: readonly Upload[]): string {
  if (uploads.length === 0) return '';
  const count = (state: Upload['state']): number => uploads.filter((one) => one.state === state).length;
  const sending = uploads.find(({ state }) => state === 'sending');
  const failures = count('failed') > 0 ? `, ${count('failed')} failed` : '';
  return `${count('done')} of ${uploads.length} uploaded${failures}${sending ? `; uploading ${sending.file.name}` : ''}`;
}

function UploadRow({ upload, onRetry }: { upload: Upload; onRetry: (onConflict: OnConflict) => void }) {
  const { file, state, percent, refusal } = upload;
  const row = useRef<HTMLLIElement>(null);
  /** The pressed button disappears; without this the keyboard focus would move to the top of the page. */
  const retry = (onConflict: OnConflict): void => {
    row.current?.focus();
    onRetry(onConflict);
  };
  return (
    <li ref={row} tabIndex={-1}>
      <span class="name">{file.name}</span>
      {state === 'sending' && <progress aria-label={`Upload of ${file.name}`} max={100} value={percent} />}
      {state === 'waiting' && <span class="facts">waiting</span>}
      {state === 'done' && <span class="facts">uploaded</span>}
      {refusal && <RefusalNote refusal={refusal} />}
      {refusal?.code === 'name_conflict' && (
        <>
          <button type="button" aria-label={`Keep both files named ${file.name}`} onClick={() => retry('rename')}>
            Keep both
          </button>
          <button type="button" aria-label={`Replace ${file.name}`} onClick={() => retry('replace')}>
            Replace
          </button>
        </>
      )}
      {refusal && refusal.code !== 'name_conflict' && (
        <button type="button" aria-label={`Try ${file.name} again`} onClick={() => retry('fail')}>
          Try again
        </button>
      )}
    </li>
  );
}
