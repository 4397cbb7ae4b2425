/**
 * Returns the condition that the roster of a group `g` was imported more than a day before `now`, and that no launch has
 * requested it since. A roster that was never imported is not old.
 */
export const isRosterOld = (now: string): string =>
  `coalesce(g.roster_synced_at < ${now} - interval '1 day'
     AND greatest(g.roster_synced_at, g.roster_asked_at) < ${now} - interval '1 day', false)`;
