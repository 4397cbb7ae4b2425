import { useCallback, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import type { FileItem, HandIn as HandedIn, Uploaded } from './api.ts';
import type { CourseApi } from './course-api.ts';
import { save } from './file-list.tsx';
import { type Failed, useLoaded, usePages } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { Filled, RefusalNote } from './notes.tsx';
import { Uploads } from './uploads.tsx';
import { timeInWords } from '../../text/language.ts';
import { t } from '../../text/lti.ts';

interface Props {
  readonly api: CourseApi;
  /** The person whose files can be handed in. */
  readonly userId: string;
  readonly failed: Failed;
}

/**
 * Shows what a learner has handed in at the link, and lets them hand in one of their own files, or a new one. The last one
 * counts.
 */
export function HandIn({ api, userId, failed }: Props) {
  const { loaded: last, refusal, retry } = useLoaded(api.lastHandIn, failed);
  const [fresh, setFresh] = useState<HandedIn>();
  const shown = fresh ?? last;

  return (
    <section aria-labelledby="hand-in-heading" class="hand-in">
      <h2 id="hand-in-heading">{t('handIn.heading')}</h2>
      {refusal && <RefusalNote refusal={refusal} onRetry={retry} />}
      {!refusal && shown === undefined && <p role="status">{t('loading')}</p>}
      {shown !== undefined && (
        <>
          <State api={api} handIn={shown} failed={failed} />
          <Choice api={api} userId={userId} failed={failed} isAgain={shown !== null} onHandedIn={setFresh} />
        </>
      )}
    </section>
  );
}

function State({ api, handIn, failed }: { api: CourseApi; handIn: HandedIn | null; failed: Failed }) {
  const [refusal, setRefusal] = useState<Refusal>();
  /** The address works for a minute, so each click requests another one. */
  const download = (): void => {
    setRefusal(undefined);
    api.handIn().then(
      ({ download_url: url }) => save(url),
      (error: unknown) => setRefusal(failed(error)),
    );
  };
  return (
    <>
      <p role="status" class={handIn ? 'handed-in' : undefined}>
        {handIn ? (
          <>
            <Filled
              text={t('handIn.last', { name: handIn.file.name, version: handIn.version })}
              value={<time dateTime={handIn.handed_in_at}>{timeInWords(handIn.handed_in_at)}</time>}
            />
          </>
        ) : (
          t('handIn.none')
        )}
      </p>
      {handIn && (
        <p>
          <Button icon="download" onClick={download}>
            {t('handIn.download')}
          </Button>
        </p>
      )}
      {refusal && <RefusalNote refusal={refusal} />}
    </>
  );
}

interface ChoiceProps extends Props {
  readonly isAgain: boolean;
  readonly onHandedIn: (handIn: HandedIn) => void;
}

function Choice({ api, userId, failed, isAgain, onHandedIn }: ChoiceProps) {
  /** Grows with every uploaded file, so that the list is fetched again. */
  const [uploads, setUploads] = useState(0);
  const [chosen, setChosen] = useState('');
  const [isSending, setSending] = useState(false);
  const [unsent, setUnsent] = useState<Refusal>();
  const ask = useCallback((cursor?: string) => api.ownFiles(userId, cursor), [api, userId]);
  const { items: files, isMore, isBusy, refusal, next } = usePages(ask, failed, uploads);

  const uploaded = (news: readonly Uploaded[]): void => {
    setUploads((count) => count + 1);
    setChosen(news.at(-1)?.id ?? '');
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setUnsent(undefined);
    try {
      onHandedIn(await api.handInFile(chosen));
      setChosen('');
    } catch (error) {
      setUnsent(failed(error));
    }
    setSending(false);
  };

  return (
    <>
      <form onSubmit={(event) => void submit(event)}>
        <label for="hand-in-file">{isAgain ? t('handIn.chooseAgain') : t('handIn.choose')}</label>
        <select id="hand-in-file" class="c-input" value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
          <option value="">{optionOfNone(files, isBusy)}</option>
          {files?.map((file) => (
            <option key={file.id} value={file.id}>
              {file.name}
            </option>
          ))}
        </select>
        <Button type="submit" kind="primary" disabled={chosen === '' || isSending}>
          {isAgain ? t('handIn.submitAgain') : t('handIn.submit')}
        </Button>
        {isMore && (
          <Button disabled={isBusy} onClick={next}>
            {t('handIn.more')}
          </Button>
        )}
      </form>
      {(unsent ?? refusal) && <RefusalNote refusal={(unsent ?? refusal)!} {...(unsent ? {} : { onRetry: next })} />}
      <Uploads api={api} folderId={null} heading={t('handIn.upload')} failed={failed} onUploaded={uploaded} />
    </>
  );
}

function optionOfNone(files: readonly FileItem[] | undefined, isBusy: boolean): string {
  if (!files) return isBusy ? t('loading') : '';
  return files.length === 0 ? t('handIn.noFiles') : t('handIn.chooseFile');
}
