import { useEffect, useState } from 'preact/hooks';

const readers = new Set<(text: string) => void>();

/** What was said last, and when (ms of the page). */
let last = { text: '', at: Number.NEGATIVE_INFINITY };

/** A dialog that opens or closes within this time after a text may keep a screen reader from it. */
const UNHEARD_MS = 500;

/** Lets a screen reader say something that only changes what is shown: a count, a result. */
export function announce(text: string): void {
  last = { text, at: performance.now() };
  for (const reader of readers) reader(text);
}

/**
 * Says what `announce` is given while it is the topmost (status.tsx). It is there before its first text: a region that comes with
 * its text is not read.
 */
export function LiveRegion({ isTopmost }: { readonly isTopmost: boolean }) {
  const [text, setText] = useState('');
  useEffect(() => {
    if (!isTopmost) return setText('');
    // The same text again is a change only with something added that is not read.
    const say = (next: string): void => setText((before) => (before === next ? `${next}\u00a0` : next));
    readers.add(say);
    if (performance.now() - last.at < UNHEARD_MS) say(last.text);
    return () => void readers.delete(say);
  }, [isTopmost]);
  return (
    <p class="c-hidden" role="status" aria-live="polite">
      {text}
    </p>
  );
}
