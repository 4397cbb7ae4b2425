import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, problemOf } from '../../api/problem.ts';
import { inBackground } from '../../api/slow-requests.ts';
import { type Entry, ofFile } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { whileVisible } from '../while-visible.ts';

/** Between two looks at whether the shown file is still what it was. */
const LOOK_MS = 10_000;

interface Changes {
  /** The file as it is by now, if it differs in anything from `entry`; `gone`: deleted, or the reader may not see it any more. */
  readonly latest: Entry | 'gone' | undefined;
  /** Looks at once. */
  readonly look: () => void;
}

/** Asks for changes of a file while the page is visible. */
export function useChanges(entry: Entry | undefined): Changes {
  const client = useClient();
  const key = `${entry?.id} ${entry?.version}`;
  const [seen, setSeen] = useState<{ readonly key: string; readonly latest: Entry | 'gone' }>();
  const look = useRef<() => void>(() => undefined);

  useEffect(() => {
    if (!entry) return undefined;
    const { id, etag } = entry;
    const ending = new AbortController();
    const signal = inBackground(ending.signal);
    let known = etag === undefined ? undefined : `"${etag}"`;
    let isAsking = false;

    const ask = async (): Promise<void> => {
      const read = await client.getIfChanged('/files/{id}', { path: { id }, signal }, known);
      if (!read || signal.aborted) return;
      known = read.etag;
      setSeen({ key, latest: read.body.deleted_at === null ? ofFile(read.body) : 'gone' });
    };
    const askUnlessAsking = (): void => {
      if (isAsking) return;
      isAsking = true;
      ask()
        .catch((error: unknown) => {
          // Whatever else went wrong, the next look comes soon.
          if (isAbort(error) || problemOf(error).code !== 'not_found') return;
          known = undefined;
          setSeen({ key, latest: 'gone' });
        })
        .finally(() => (isAsking = false));
    };
    look.current = askUnlessAsking;
    const endLooks = whileVisible(askUnlessAsking, LOOK_MS);
    return () => {
      ending.abort();
      endLooks();
    };
  }, [key]);

  // What was seen of the file that was shown before says nothing of this one.
  return { latest: seen?.key === key ? seen.latest : undefined, look: () => look.current() };
}
