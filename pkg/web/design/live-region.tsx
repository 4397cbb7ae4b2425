import { useEffect, useState } from 'preact/hooks';

const readers = new Set<(text: string) => void>();

/** Lets a screen reader say something that only changes what is shown: a count, a result. */
export function announce(text: string): void {
  for (const reader of readers) reader(text);
}

/**
 * Says what `announce` is given; once a page. It is there before its first text: a region that comes with its text is not read.
 */
export function LiveRegion() {
  const [text, setText] = useState('');
  useEffect(() => {
    // The same text again is a change only with something added that is not read.
    const say = (next: string): void => setText((last) => (last === next ? `${next}\u00a0` : next));
    readers.add(say);
    return () => void readers.delete(say);
  }, []);
  return (
    <p class="c-hidden" role="status" aria-live="polite">
      {text}
    </p>
  );
}
