import { inDigits, isEnglish } from '../../text/language.ts';
import { count, type Key, t } from '../../text/lti.ts';
import { en } from '../../text/lti.en.ts';

/** A refusal by the API, or a failure to reach it. */
export interface Refusal {
  readonly code: string;
  /** The server's own sentence; empty if no server answered. */
  readonly message: string;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter?: number | undefined;
  /** For the administrators, who find the request in the log by it. */
  readonly requestId?: string | undefined;
}

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** 1 KB is 1024 bytes; two significant digits: `0 bytes`, `1.5 KB`, `12 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return count('bytes', bytes);
  let unit = 0;
  let size = bytes / 1024;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${inDigits(size >= 10 ? Math.round(size) : Math.round(size * 10) / 10)} ${UNITS[unit]}`;
}

export function entriesInWords(folders: number, files: number, isMore: boolean): string {
  const [ofFolders, ofFiles] = [count('folders', folders), count('files', files)];
  const what = files === 0 ? ofFolders : folders === 0 ? ofFiles : t('foldersAndFiles', { folders: ofFolders, files: ofFiles });
  return t(isMore ? 'shownThereAreMore' : 'shown', { what });
}

/** Codes for which the server's sentence says more, if it is in the language of the page. */
const SAYS_MORE =
  /^(validation_failed|conflict|suspended|registration_inactive|managed|item_refused|(line|lms|score|picker|target|link)_\w+)$/;

export function refusalInWords({ code, message, retryAfter }: Refusal): string {
  const key = `refused.${code}`;
  if (message !== '' && isEnglish() && (!Object.hasOwn(en, key) || SAYS_MORE.test(code))) return message;
  return Object.hasOwn(en, key) ? t(key as Key, { seconds: retryAfter ?? 1 }) : message || t('refused.unknown');
}
