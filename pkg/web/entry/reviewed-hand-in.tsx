import { useState } from 'preact/hooks';
import type { Api } from './api.ts';
import { save } from './file-list.tsx';
import { type Failed, useLoaded } from './loaded.ts';
import { type Refusal, timeInWords } from './messages.ts';
import { RefusalNote } from './notes.tsx';

/** What a submission review shows: the very version that was handed in. */
export function ReviewedHandIn({ api, failed }: { api: Api; failed: Failed }) {
  const { loaded: handIn, refusal, retry } = useLoaded(api.handIn, failed);
  const [unsaved, setUnsaved] = useState<Refusal>();
  /** The address works for a minute, so each click asks for another one. */
  const download = (): void => {
    setUnsaved(undefined);
    api.handIn().then(
      ({ download_url: url }) => save(url),
      (error: unknown) => setUnsaved(failed(error)),
    );
  };

  if (refusal) return <RefusalNote refusal={refusal} onRetry={retry} />;
  if (!handIn) return <p role="status">Loading …</p>;
  const { user, file, version, handed_in_at: at } = handIn;
  return (
    <>
      <header>
        <h1>{file.name}</h1>
        <p>
          Handed in by {user.name ?? 'a member of the course'} on <time dateTime={at}>{timeInWords(at)}</time>, version {version}.
        </p>
      </header>
      <button type="button" aria-label={`Download ${file.name}`} onClick={download}>
        Download
      </button>
      {unsaved && <RefusalNote refusal={unsaved} />}
    </>
  );
}
