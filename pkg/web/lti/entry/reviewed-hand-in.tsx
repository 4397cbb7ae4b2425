import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import type { Api } from './api.ts';
import { save } from './file-list.tsx';
import { type Failed, useLoaded } from './loaded.ts';
import type { Refusal } from './messages.ts';
import { Filled, RefusalNote } from './notes.tsx';
import { timeInWords } from '../../text/language.ts';
import { t } from '../../text/lti.ts';

/** The content of a submission review: exactly the version that was handed in. */
export function ReviewedHandIn({ api, failed }: { api: Api; failed: Failed }) {
  const { loaded: handIn, refusal, retry } = useLoaded(api.handIn, failed);
  const [unsaved, setUnsaved] = useState<Refusal>();
  /** The address works for a minute, so each click requests another one. */
  const download = (): void => {
    setUnsaved(undefined);
    api.handIn().then(
      ({ download_url: url }) => save(url),
      (error: unknown) => setUnsaved(failed(error)),
    );
  };

  if (refusal) return <RefusalNote refusal={refusal} onRetry={retry} />;
  if (!handIn) return <p role="status">{t('loading')}</p>;
  const { user, file, version, handed_in_at: at } = handIn;
  return (
    <>
      <header>
        <h1>{file.name}</h1>
        <p>
          <Filled
            text={t('review.by', { name: user.name ?? t('review.somebody'), version })}
            value={<time dateTime={at}>{timeInWords(at)}</time>}
          />
        </p>
      </header>
      <p>
        <Button kind="primary" icon="download" aria-label={t('downloadOf', { name: file.name })} onClick={download}>
          {t('download')}
        </Button>
      </p>
      {unsaved && <RefusalNote refusal={unsaved} />}
    </>
  );
}
