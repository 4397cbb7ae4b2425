/**
 * Whether the roster of a group `g` was taken over more than a day before `now`, and no launch has asked for it since. One that
 * never was is not old.
 */
export const isRosterOld = (now: string): string =>
  `coalesce(g.roster_synced_at < ${now} - interval '1 day' AND greatest(g.roster_synced_at, g.roster_asked_at) < ${now} - interval '1 day', false)`;
