import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Api, OnConflict, Uploaded } from './api.ts';
import type { Failed } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { type Upload, UploadLine } from './upload-line.ts';

interface Props {
  readonly api: Api;
  /** Where chosen files go; null: the person's own root. */
  readonly folderId: string | null;
  readonly heading?: string;
  readonly failed: Failed;
  /** Those of the list that were uploaded since the call before. */
  readonly onUploaded: (files: readonly Uploaded[]) => void;
}

const UNDER_WAY: readonly Upload['state'][] = ['waiting', 'sending', 'reconnecting'];

/** Uploads of several files; each shows its progress, can be paused and cancelled, and says after an error what to do. */
export function Uploads({ api, folderId, heading = 'Add files', failed, onUploaded }: Props) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [hasChoice, setChoice] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const id = useId();
  const reported = useRef(onUploaded);
  reported.current = onUploaded;
  const [line] = useState(() => new UploadLine({ api, failed, onChange: setUploads, onUploaded: (files) => reported.current(files) }));
  useWarning(uploads.some(({ state }) => UNDER_WAY.includes(state)));

  const submit = (event: Event): void => {
    event.preventDefault();
    const chosen = [...(input.current?.files ?? [])];
    if (input.current) input.current.value = '';
    setChoice(false);
    line.add(chosen, folderId);
  };
  const cancel = (id: number): void => {
    // The pressed button disappears with its row.
    title.current?.focus();
    line.cancel(id);
  };

  return (
    <section aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`} ref={title} tabIndex={-1}>
        {heading}
      </h2>
      <form onSubmit={submit}>
        <label for={`${id}-input`}>Choose files</label>
        <input
          id={`${id}-input`}
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
            <UploadRow
              key={upload.id}
              upload={upload}
              onPause={() => line.pause(upload.id)}
              onResume={(onConflict) => line.resume(upload.id, onConflict)}
              onCancel={() => cancel(upload.id)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

/** While something is under way, the browser asks before it leaves the page. */
function useWarning(isUnderWay: boolean): void {
  useEffect(() => {
    if (!isUnderWay) return;
    const ask = (event: Event): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isUnderWay]);
}

/** For screen readers: the state of the uploads, not each percent. */
function statusOf(uploads: readonly Upload[]): string {
  if (uploads.length === 0) return '';
  const count = (state: Upload['state']): number => uploads.filter((one) => one.state === state).length;
  const failures = count('failed') > 0 ? `, ${count('failed')} failed` : '';
  const paused = count('paused') > 0 ? `, ${count('paused')} paused` : '';
  const sending = uploads.find(({ state }) => state === 'sending');
  const waiting = uploads.some(({ state }) => state === 'reconnecting');
  const now = waiting ? '; the connection is lost, it goes on by itself' : sending ? `; uploading ${sending.file.name}` : '';
  return `${count('done')} of ${uploads.length} uploaded${failures}${paused}${now}`;
}

/** What a row says of an upload that has no bar. */
const STATE_WORDS: Readonly<Partial<Record<Upload['state'], string>>> = { waiting: 'waiting', done: 'uploaded' };

interface RowProps {
  readonly upload: Upload;
  readonly onPause: () => void;
  readonly onResume: (onConflict?: OnConflict) => void;
  readonly onCancel: () => void;
}

function UploadRow({ upload, onPause, onResume, onCancel }: RowProps) {
  const { file, state, percent, refusal } = upload;
  const row = useRef<HTMLLIElement>(null);
  /** The pressed button disappears; without this the keyboard focus would move to the top of the page. */
  const then = (act: () => void) => (): void => {
    row.current?.focus();
    act();
  };
  const button = (text: string, label: string, act: () => void) => (
    <button type="button" aria-label={label} onClick={then(act)}>
      {text}
    </button>
  );
  const isTaken = refusal?.code === 'name_conflict';
  return (
    <li ref={row} tabIndex={-1}>
      <span class="name">{file.name}</span>
      {['sending', 'reconnecting', 'paused'].includes(state) && (
        <>
          <progress aria-label={`Upload of ${file.name}`} max={100} value={percent} />
          <span class="facts">
            {percent} %{state === 'paused' ? ', paused' : state === 'reconnecting' ? ', waiting for the connection' : ''}
          </span>
        </>
      )}
      {STATE_WORDS[state] && <span class="facts">{STATE_WORDS[state]}</span>}
      {refusal && <RefusalNote refusal={refusal} />}
      {isTaken && button('Keep both', `Keep both files named ${file.name}`, () => onResume('rename'))}
      {isTaken && button('Replace', `Replace ${file.name}`, () => onResume('replace'))}
      {refusal && !isTaken && button('Try again', `Try ${file.name} again`, onResume)}
      {UNDER_WAY.includes(state) && button('Pause', `Pause the upload of ${file.name}`, onPause)}
      {state === 'paused' && button('Resume', `Resume the upload of ${file.name}`, onResume)}
      {state !== 'done' && (
        <button type="button" aria-label={`Cancel the upload of ${file.name}`} onClick={onCancel}>
          Cancel
        </button>
      )}
    </li>
  );
}
