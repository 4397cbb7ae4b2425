import { useEffect, useState } from 'preact/hooks';
import { agoIn, sizeIn, timeIn } from './format.ts';

/** Returns the reader's own variant (de-AT) of the page's language, if the browser knows it. */
export function pageLocale(): string {
  const language = document.documentElement.lang || 'en';
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

const MINUTE_MS = 60_000;
const FRESH_MS = 60 * MINUTE_MS;

interface DateTimeProps {
  /** ISO 8601. */
  readonly value: string;
  /** Not "3 minutes ago", but the time itself. */
  readonly isFull?: boolean | undefined;
}

/** A time as people say it; pointing at it shows it in full. It stays right while the page is open. */
export function DateTime({ value, isFull = false }: DateTimeProps) {
  const [now, setNow] = useState(() => new Date());
  const time = new Date(value);
  const isFresh = !isFull && Math.abs(now.getTime() - time.getTime()) < FRESH_MS;
  useEffect(() => {
    if (!isFresh) return undefined;
    const timer = setInterval(() => setNow(new Date()), MINUTE_MS);
    return () => clearInterval(timer);
  }, [isFresh]);
  const inFull = timeIn(pageLocale(), time);
  return (
    <time dateTime={value} title={inFull}>
      {isFull ? inFull : agoIn(pageLocale(), time, now)}
    </time>
  );
}

/** A size in bytes, in the notation of the page's language. */
export const FileSize = ({ bytes }: { readonly bytes: number }) => (
  <data value={String(bytes)}>{sizeIn(pageLocale(), bytes)}</data>
);
