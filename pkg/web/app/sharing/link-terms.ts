import type { Share } from '../../api/operations.generated.ts';

/** Why a link works for nobody: `off`, `ended`, `usedUp`, or a rule of the tenant that it breaks. */
export type DeadReason = 'off' | 'ended' | 'usedUp' | Share['blocked_by'][number];

type Terms = Pick<Share, 'is_active' | 'expires_at' | 'max_downloads' | 'download_count' | 'blocked_by'>;

/** Returns every reason why a link works for nobody; none: it works. */
export function deadReasons(link: Terms, now: Date): readonly DeadReason[] {
  const { is_active, expires_at, max_downloads, download_count, blocked_by } = link;
  const own: Readonly<Record<'off' | 'ended' | 'usedUp', boolean>> = {
    off: !is_active,
    ended: expires_at !== null && new Date(expires_at) <= now,
    usedUp: max_downloads !== null && download_count >= max_downloads,
  };
  return [...(['off', 'ended', 'usedUp'] as const).filter((reason) => own[reason]), ...blocked_by];
}

/** Says that nobody opens a link any more since its end has passed or its downloads are used up. */
export const hasEnded = (link: Terms, now: Date): boolean =>
  deadReasons(link, now).some((reason) => reason === 'ended' || reason === 'usedUp');

const DAY_MS = 86_400_000;

/** Returns the latest time at which a link may end that was made then; null: it need not end. */
export const latestEnd = (madeAt: Date, maxDays: number | null): Date | null =>
  maxDays === null ? null : new Date(madeAt.getTime() + maxDays * DAY_MS);

const digits = (number: number): string => String(number).padStart(2, '0');

/** Returns the day of a time in the reader's time zone, as a date field has it: 2026-03-09. */
export const dayOf = (time: Date): string =>
  `${String(time.getFullYear()).padStart(4, '0')}-${digits(time.getMonth() + 1)}-${digits(time.getDate())}`;

/** Returns the last second of a day in the reader's time zone. */
export const endOfDay = (day: string): Date => new Date(`${day}T23:59:59`);
