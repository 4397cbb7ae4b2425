import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Api, HandIn } from './api.ts';
import { save } from './file-list.tsx';
import { type Refusal, timeInWords } from './messages.ts';
import { RefusalNote } from './notes.tsx';

/** What a submission review shows: the very version that was handed in. */
export function ReviewedHandIn({ api, failed }: { api: Api; failed: (error: unknown) => Refusal }) {
  const [handIn, setHandIn] = useState<HandIn>();
  const [refusal, setRefusal] = useState<Refusal>();
  const load = useCallback(() => {
    setRefusal(undefined);
    api.handIn().then(setHandIn, (error: unknown) => setRefusal(failed(error)));
  }, [api, failed]);
  useEffect(load, [load]);
  /** The address works for a minute, so each click asks for another one. */
  const download = (): void => {
    api.handIn().then(
      ({ download_url: url }) => save(url),
      (error: unknown) => setRefusal(failed(error)),
    );
  };

  if (refusal) return <RefusalNote refusal={refusal} onRetry={load} />;
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
    </>
  );
}
