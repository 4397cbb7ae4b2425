import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { FileIcon } from '../../design/file-icon.tsx';
import { Progress } from '../../design/progress.tsx';
import type { Api, OnConflict, Uploaded } from './api.ts';
import type { Failed } from './loaded.ts';
import { RefusalNote } from './notes.tsx';
import { type Upload, UploadLine } from './upload-line.ts';
import { type Key, t } from '../../text/lti.ts';

interface Props {
  readonly api: Api;
  /** The folder for chosen files; null: the person's own root. */
  readonly folderId: string | null;
  readonly heading?: string;
  readonly failed: Failed;
  /** Gets the files of the list that were uploaded since the previous call. */
  readonly onUploaded: (files: readonly Uploaded[]) => void;
}

const UNDER_WAY: readonly Upload['state'][] = ['waiting', 'sending', 'reconnecting'];

/** Uploads several files; each shows its progress, can be paused and cancelled, and shows a remedy after an error. */
export function Uploads({ api, folderId, heading = t('upload.heading'), failed, onUploaded }: Props) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [hasChoice, setChoice] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  const id = useId();
  const reported = useRef(onUploaded);
  reported.current = onUploaded;
  const [line] = useState(
    () => new UploadLine({ api, failed, onChange: setUploads, onUploaded: (files) => reported.current(files) }),
  );
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
        <label for={`${id}-input`}>{t('upload.choose')}</label>
        <input
          id={`${id}-input`}
          ref={input}
          type="file"
          multiple
          onChange={(event) => setChoice((event.currentTarget.files?.length ?? 0) > 0)}
        />
        <Button type="submit" kind="primary" icon="upload" disabled={!hasChoice}>
          {t('upload.start')}
        </Button>
      </form>
      <p role="status">{statusOf(uploads)}</p>
      {uploads.length > 0 && (
        <ul class="uploads" aria-label={t('upload.list')}>
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

/** While an upload is running, the browser asks before it leaves the page. */
function useWarning(isUnderWay: boolean): void {
  useEffect(() => {
    if (!isUnderWay) return;
    const ask = (event: Event): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isUnderWay]);
}

/** Returns the state of the uploads for screen readers, without each percent. */
function statusOf(uploads: readonly Upload[]): string {
  if (uploads.length === 0) return '';
  const inState = (state: Upload['state']): number => uploads.filter((one) => one.state === state).length;
  const failures = inState('failed') > 0 ? t('upload.failures', { count: inState('failed') }) : '';
  const paused = inState('paused') > 0 ? t('upload.pauses', { count: inState('paused') }) : '';
  const sending = uploads.find(({ state }) => state === 'sending');
  const waiting = uploads.some(({ state }) => state === 'reconnecting');
  const now = waiting ? t('upload.lost') : sending ? t('upload.current', { name: sending.file.name }) : '';
  return `${t('upload.status', { done: inState('done'), all: uploads.length })}${failures}${paused}${now}`;
}

/** The text about an upload beside its bar, if it has one. */
const STATE_WORDS = {
  waiting: 'upload.waiting',
  sending: 'upload.percent',
  reconnecting: 'upload.percentLost',
  paused: 'upload.percentPaused',
  done: 'upload.done',
  failed: undefined,
} as const satisfies Record<Upload['state'], Key | undefined>;

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
  const button = (text: Key, label: Key, act: () => void) => (
    <Button size="s" aria-label={t(label, { name: file.name })} onClick={then(act)}>
      {t(text)}
    </Button>
  );
  const words = STATE_WORDS[state];
  const isTaken = refusal?.code === 'name_conflict';
  return (
    <li ref={row} tabIndex={-1}>
      <FileIcon mimeType={file.type || null} name={file.name} />
      <span class="name">{file.name}</span>
      {['sending', 'reconnecting', 'paused'].includes(state) && (
        <Progress label={t('upload.progress', { name: file.name })} max={100} value={percent} />
      )}
      {words && <span class="facts">{t(words, { percent })}</span>}
      {refusal && <RefusalNote refusal={refusal} />}
      {isTaken && button('upload.keepBoth', 'upload.keepBothOf', () => onResume('rename'))}
      {isTaken && button('upload.replace', 'upload.replaceOf', () => onResume('replace'))}
      {refusal && !isTaken && button('tryAgain', 'upload.againOf', onResume)}
      {UNDER_WAY.includes(state) && button('upload.pause', 'upload.pauseOf', onPause)}
      {state === 'paused' && button('upload.resume', 'upload.resumeOf', onResume)}
      {state !== 'done' && (
        <Button size="s" kind="quiet" aria-label={t('upload.cancelOf', { name: file.name })} onClick={onCancel}>
          {t('upload.cancel')}
        </Button>
      )}
    </li>
  );
}
