import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Page, refusalOf } from './api.ts';
import type { Refusal } from './messages.ts';

/** Every component reports its errors here and shows the result. */
export type Failed = (error: unknown) => Refusal;

/** `isOver`: one of the errors was that the session has ended. */
export function useFailures(): { failed: Failed; isOver: boolean } {
  const [isOver, setOver] = useState(false);
  const failed = useCallback((error: unknown): Refusal => {
    const refusal = refusalOf(error);
    if (refusal.code === 'unauthenticated') setOver(true);
    return refusal;
  }, []);
  return { failed, isOver };
}

/** Returns the result of `ask`, or why there is none. `ask` must stay the same function as long as its request is the same. */
export function useLoaded<T>(ask: () => Promise<T>, failed: Failed): { loaded?: T; refusal?: Refusal; retry: () => void } {
  const [answer, setAnswer] = useState<{ loaded?: T; refusal?: Refusal }>({});
  const retry = useCallback(() => {
    setAnswer({});
    ask().then(
      (loaded) => setAnswer({ loaded }),
      (error: unknown) => setAnswer({ refusal: failed(error) }),
    );
  }, [ask, failed]);
  useEffect(retry, [retry]);
  return { ...answer, retry };
}

export interface Listed<Item> {
  /** undefined until the first page has arrived. */
  readonly items: readonly Item[] | undefined;
  readonly isMore: boolean;
  readonly isBusy: boolean;
  readonly refusal: Refusal | undefined;
  /** Requests the next page, or the refused one again. */
  readonly next: () => void;
}

/**
 * Returns a list, page by page. `ask` must stay the same function as long as its request is the same; a change of `changes`
 * fetches the list again.
 */
export function usePages<Item>(ask: (cursor?: string) => Promise<Page<Item>>, failed: Failed, changes: number): Listed<Item> {
  const [items, setItems] = useState<readonly Item[]>();
  const [cursor, setCursor] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  /** The latest request: a late reply to an earlier one is ignored. */
  const latest = useRef<{ readonly from: string | null }>({ from: null });

  const fetchFrom = useCallback(
    (from: string | null) => {
      const request = { from };
      latest.current = request;
      const ifLatest = (show: () => void): void => {
        if (request !== latest.current) return;
        setBusy(false);
        show();
      };
      setBusy(true);
      setRefusal(undefined);
      const add = ({ data, pagination }: Page<Item>): void => {
        setItems((before) => (from === null ? data : [...(before ?? []), ...data]));
        setCursor(pagination.has_more ? pagination.next_cursor : null);
      };
      ask(from ?? undefined).then(
        (page) => ifLatest(() => add(page)),
        (error: unknown) => ifLatest(() => setRefusal(failed(error))),
      );
    },
    [ask, failed],
  );
  useEffect(() => fetchFrom(null), [fetchFrom, changes]);
  return { items, isMore: cursor !== null, isBusy, refusal, next: () => fetchFrom(refusal ? latest.current.from : cursor) };
}
