import type { Share } from '../../api/operations.generated.ts';
import { dayOf, endOfDay, latestEnd } from './link-terms.ts';

/** What the tenant demands of links. */
export interface LinkRules {
  readonly password_required: boolean;
  readonly max_days: number | null;
  readonly folder_uploads: boolean;
}

/** What the form of a link holds, as it was typed. */
export interface LinkDraft {
  readonly mode: Share['mode'];
  readonly hasPassword: boolean;
  readonly password: string;
  /** A day, 2026-03-09; empty: no end. */
  readonly day: string;
  /** Empty: as many as anybody likes. */
  readonly downloads: string;
}

/** What is wrong with a draft, by field. */
export interface DraftFaults {
  readonly password?: 'passwordShort';
  readonly day?: 'endsMissing' | 'endsLate' | 'endsPast';
  readonly downloads?: 'downloadsWrong';
}

const PASSWORD_MIN = 8;
const DOWNLOADS_MAX = 2 ** 31 - 1;

/** Returns the draft of a new link (the latest end that the rules allow), or of one that is to be changed. */
export function draftOf(link: Share | undefined, rules: LinkRules, now: Date): LinkDraft {
  const latest = latestEnd(link ? new Date(link.created_at) : now, rules.max_days);
  const end = link?.expires_at ? new Date(link.expires_at) : latest;
  return {
    mode: link?.mode ?? 'download',
    hasPassword: link?.has_password ?? false,
    password: '',
    day: end === null ? '' : dayOf(end),
    downloads: String(link?.max_downloads ?? ''),
  };
}

/** Returns the draft with what the rules leave no choice about: they may change while somebody fills in the form. */
export const underRules = (draft: LinkDraft, link: Share | undefined, rules: LinkRules): LinkDraft => ({
  ...draft,
  mode: link || rules.folder_uploads ? draft.mode : 'download',
  hasPassword: rules.password_required || draft.hasPassword,
});

export function faultsOf(draft: LinkDraft, link: Share | undefined, rules: LinkRules, now: Date): DraftFaults {
  const latest = latestEnd(link ? new Date(link.created_at) : now, rules.max_days);
  const keepsPassword = (link?.has_password ?? false) && draft.password === '';
  const keepsDay = link?.expires_at != null && dayOf(new Date(link.expires_at)) === draft.day;
  return {
    ...(draft.hasPassword && !keepsPassword && draft.password.length < PASSWORD_MIN ? { password: 'passwordShort' } : {}),
    ...dayFault(draft.day, keepsDay, latest, now),
    ...(draft.mode === 'upload' || draft.downloads.trim() === '' || isCount(draft.downloads)
      ? {}
      : { downloads: 'downloadsWrong' }),
  };
}

function dayFault(day: string, isKept: boolean, latest: Date | null, now: Date): Pick<DraftFaults, 'day'> {
  if (day === '') return latest === null ? {} : { day: 'endsMissing' };
  if (latest !== null && day > dayOf(latest)) return { day: 'endsLate' };
  return day < dayOf(now) && !isKept ? { day: 'endsPast' } : {};
}

const isCount = (text: string): boolean => /^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= DOWNLOADS_MAX;

/** The fields that a request has beside the mode. */
export interface LinkTerms {
  readonly password?: string | null;
  readonly expires_at?: string | null;
  readonly max_downloads?: number | null;
}

/**
 * Returns the terms of a draft without faults: all of a new link, of a changed one those that differ. The last day that the rules
 * allow is no whole day: a new link then ends as late as the server lets it, which has a clock of its own.
 */
export function termsOf(draft: LinkDraft, link: Share | undefined, rules: LinkRules, now: Date): LinkTerms {
  const password = draft.hasPassword ? draft.password || undefined : link?.has_password ? null : undefined;
  const downloads = draft.mode === 'upload' || draft.downloads.trim() === '' ? null : Number(draft.downloads);
  const isSameDay = link !== undefined && draft.day === (link.expires_at === null ? '' : dayOf(new Date(link.expires_at)));
  const isLawful = !link?.blocked_by.includes('max_days');
  const end = isSameDay && isLawful ? undefined : endOf(draft.day, link, rules, now);
  return {
    ...(password === undefined ? {} : { password }),
    ...(end === undefined ? {} : { expires_at: end }),
    ...(downloads === (link?.max_downloads ?? null) ? {} : { max_downloads: downloads }),
  };
}

function endOf(day: string, link: Share | undefined, rules: LinkRules, now: Date): string | null | undefined {
  if (day === '') return null;
  const latest = latestEnd(link ? new Date(link.created_at) : now, rules.max_days);
  const end = endOfDay(day);
  if (latest === null || end < latest) return end.toISOString();
  return link ? latest.toISOString() : undefined;
}
