import { locale } from '../text/language.ts';
import { t } from '../text/share.ts';
import type { Hold } from '../uploads/queue.ts';

/** Waits that are longer than this end at a time of day. Milliseconds. */
const LONG_MS = 120_000;

/** Returns why nothing is sent, and what ends that, to somebody who has nothing but the link. */
export function holdInWords({ reason, until, problem }: Hold): string {
  if (reason === 'offline') return t('hold.offline');
  if (problem?.code === 'sender_missing') return t('hold.sender');
  if (problem?.code === 'link_ended') return t('hold.ended');
  if (problem?.code === 'share_password_required') return t('hold.password');
  if (problem?.code === 'suspended') return t('hold.suspended');
  if (reason === 'stopped') return t('hold.full');
  if (until === undefined || until - Date.now() < LONG_MS) return t('hold.busy');
  const time = new Intl.DateTimeFormat(locale(), { timeStyle: 'short' }).format(new Date(until));
  return t('hold.many', { time });
}
