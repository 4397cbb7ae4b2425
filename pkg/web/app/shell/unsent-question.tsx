import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Confirm } from '../../design/confirm.tsx';
import { askAboutUnsent, holdsUnsent, onceDiscarded } from '../../design/unsent.ts';
import { t } from '../../text/unsent.ts';
import { guardHistory } from './history-guard.ts';
import { linkWithin } from './link-within.ts';

/**
 * Asks before something that was entered and not sent is lost: when its dialog or panel is closed, at a link to another page, and
 * when the browser goes back or forward. At a reload, and when the document is left, the browser itself asks. What a script of
 * the page opens comes after a form was sent, and is not asked about.
 */
export function UnsentQuestion() {
  const { url, route } = useLocation();
  /** Each question is another one: the browser may have closed the last, unasked. */
  const [asked, setAsked] = useState<{ readonly discard: () => void }>();
  const turn = useRef(0);
  const shown = useRef(url);
  shown.current = url;
  useEffect(() => {
    const stay = new AbortController();
    askAboutUnsent((discard) => {
      turn.current += 1;
      setAsked({ discard });
    });
    addEventListener('beforeunload', (event) => holdsUnsent(document) && event.preventDefault(), { signal: stay.signal });
    addEventListener(
      'click',
      (event) => {
        const address = linkWithin(event);
        if (address === undefined || pathOf(address) === location.pathname || !holdsUnsent(document)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        onceDiscarded(document, () => route(address));
      },
      { capture: true, signal: stay.signal },
    );
    guardHistory((event) => {
      // The preview and the search add to the address of a page, which stays.
      if (location.pathname === pathOf(shown.current) || !holdsUnsent(document)) return;
      event.stopImmediatePropagation();
      // The browser is at the other entry by now. This one comes after it, as it did before.
      history.pushState(null, '', shown.current);
      onceDiscarded(document, () => history.back());
    });
    return () => {
      stay.abort();
      guardHistory(undefined);
      askAboutUnsent(undefined);
    };
  }, []);
  if (!asked) return null;
  return (
    <Confirm
      key={turn.current}
      title={t('title')}
      confirmLabel={t('discard')}
      cancelLabel={t('keep')}
      isDanger
      onConfirm={() => {
        setAsked(undefined);
        // Once the question is gone: a dialog that closes gives the focus back to nothing behind another one.
        queueMicrotask(asked.discard);
      }}
      onCancel={() => setAsked(undefined)}
    >
      {t('text')}
    </Confirm>
  );
}

const pathOf = (address: string): string => new URL(address, location.origin).pathname;
