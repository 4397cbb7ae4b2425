import { sizeIn } from '../design/format.ts';
import { locale } from '../text/language.ts';
import { count, type Key, t } from '../text/uploads.ts';
import type { Problem } from './problem.ts';
import type { Hold, Queue, Summary, Upload } from './queue.ts';

const inUnit = (value: number, unit: string, digits = 0): string =>
  new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits }).format(value);

const sizeInWords = (bytes: number): string => sizeIn(locale(), bytes);
const speedInWords = (bytesPerSecond: number): string => `${sizeInWords(bytesPerSecond)}/s`;

/** Returns a duration in its largest unit: nobody plans by the seconds of an hour. */
export function durationInWords(seconds: number): string {
  if (seconds < 60) return inUnit(Math.max(1, Math.ceil(seconds)), 'second');
  if (seconds < 3_600) return inUnit(Math.ceil(seconds / 60), 'minute');
  return inUnit(seconds / 3_600, 'hour', 1);
}

/** Returns the state of an upload, as its row shows it. */
export function stateInWords(upload: Upload, queue: Queue): string {
  const [sent, size] = [sizeInWords(upload.sent), sizeInWords(upload.size)];
  switch (upload.state) {
    case 'sending': {
      const { bytesPerSecond, secondsLeft } = queue.speedOf(upload.id);
      const isKnown = bytesPerSecond !== undefined && secondsLeft !== undefined;
      if (!isKnown || queue.hold?.reason === 'offline') return t('state.sending', { sent, size });
      const [speed, left] = [speedInWords(bytesPerSecond), durationInWords(secondsLeft)];
      return t('state.sendingSpeed', { sent, size, speed, left });
    }
    case 'paused':
      return t('state.paused', { sent, size });
    case 'failed':
      return upload.problem ? problemInWords(upload.problem) : t('refused.page_failed');
    case 'waiting':
      if (queue.hold?.reason === 'offline') return t('state.offline');
      return t(upload.isChanged ? 'state.changed' : 'state.waiting');
    case 'interrupted':
      return t(upload.canRead ? 'state.unread' : 'state.interrupted');
    case 'done':
      return t(upload.fileId === undefined ? 'state.folder' : 'state.done');
    case 'preparing':
    case 'conflict':
    case 'skipped':
      return t(`state.${upload.state}`);
  }
}

const REFUSED = [
  'payload_too_large',
  'no_room_for_file',
  'forbidden',
  'not_found',
  'folder_gone',
  'folder_name_taken',
  'name_conflict',
  'file_unreadable',
  'validation_failed',
  'page_failed',
] as const;

/** Returns why an upload failed and what to do, with the id of the request for the administrator. */
export function problemInWords({ code, message, requestId }: Problem): string {
  const known = REFUSED.find((one) => one === code);
  const why = known ? t(`refused.${known}`, { message }) : t('refused.other', { code, message });
  return requestId === undefined || (known && known !== 'page_failed')
    ? why.trim()
    : `${why.trim()} ${t('requestId', { id: requestId })}`;
}

/** Returns why nothing starts, and what ends that. */
export function holdInWords({ reason, problem }: Hold): string {
  if (reason !== 'stopped') return t(`hold.${reason}`);
  const key: Key = problem?.code === 'suspended' ? 'suspended' : 'quotaFull';
  return t('hold.stopped', { message: t(key) });
}

/** Returns the two lines of the panel's head: what happens, and how far it is. */
export function summaryInWords(summary: Summary, found: number | undefined): { readonly title: string; readonly detail: string } {
  const { total, count: number, bytesPerSecond, secondsLeft, hold } = summary;
  const active = number.preparing + number.sending;
  const open = active + number.waiting;
  const [done, all] = [number.done + number.skipped, total];
  const detail = t('progress', { done, all });
  if (found !== undefined && done === 0) return { title: count('found', found), detail };
  if (open === 0 && number.paused > 0) return { title: t('paused'), detail };
  if (open > 0 && (active === 0 || hold?.reason === 'offline') && hold) return { title: t('stopped'), detail };
  if (open > 0) {
    const title = count('uploading', open);
    if (secondsLeft === undefined) return { title, detail };
    const left = durationInWords(secondsLeft);
    if (bytesPerSecond === undefined) return { title, detail: t('progressLeft', { done, all, left }) };
    return { title, detail: t('progressSpeed', { done, all, left, speed: speedInWords(bytesPerSecond) }) };
  }
  if (number.conflict + number.interrupted > 0) return { title: t('stopped'), detail };
  if (number.failed > 0) return { title: count('failures', number.failed), detail };
  if (number.done === 0 && number.skipped > 0) return { title: count('skipped', number.skipped), detail: '' };
  return { title: number.done > 0 ? count('uploaded', number.done) : t('nothing'), detail: total > number.done ? detail : '' };
}
