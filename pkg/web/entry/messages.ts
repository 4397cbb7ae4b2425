/** What the API, or the way to it, refused. */
export interface Refusal {
  readonly code: string;
  /** The server's own sentence; empty where no server answered. */
  readonly message: string;
  /** Seconds after which it may be tried again. */
  readonly retryAfter?: number | undefined;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** 1 KB is 1024 bytes; two digits that matter: `0 bytes`, `1.5 KB`, `12 MB`. */
export function sizeInWords(bytes: number): string {
  let unit = 0;
  let size = bytes;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  if (bytes === 1) return '1 byte';
  const shown = unit === 0 || size >= 10 ? Math.round(size) : Math.round(size * 10) / 10;
  return `${shown} ${UNITS[unit]}`;
}

/** Date and time as the reader's language and time zone write them. */
export const timeInWords = (iso: string, locale?: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

export function entriesInWords(folders: number, files: number, isMore: boolean): string {
  const count = (number: number, one: string): string[] => (number === 0 ? [] : [`${number} ${number === 1 ? one : `${one}s`}`]);
  return `${[...count(folders, 'folder'), ...count(files, 'file')].join(' and ')} shown${isMore ? '; there are more' : ''}`;
}

/** Codes that mean more here than the server's sentence says. */
const SENTENCES: Readonly<Record<string, (refusal: Refusal) => string>> = {
  unreachable: () => 'The service cannot be reached. Check your connection and try again.',
  unauthenticated: () => 'This session has ended. Open it again from your course.',
  not_found: () => 'The item does not exist any more, or is no longer open to you. Open it again from your course.',
  forbidden: () => 'You do not have the permission for this. Ask an instructor of the course.',
  name_conflict: () => 'A file of that name exists already.',
  quota_exceeded: () => 'Your storage is full. Delete files, or ask the administrators of this service for more.',
  payload_too_large: () => 'The file is larger than this service accepts.',
  rate_limit_exceeded: ({ retryAfter }) => `Too many requests. Try again in ${retryAfter ?? 1} s.`,
};

export const refusalInWords = (refusal: Refusal): string =>
  (Object.hasOwn(SENTENCES, refusal.code) ? SENTENCES[refusal.code]?.(refusal) : undefined) ??
  (refusal.message || 'The request failed. Try again; if it fails again, open the page from your course again.');
