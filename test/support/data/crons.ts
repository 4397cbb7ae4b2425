/*
 * Times of schedules in UTC that are far from now, whenever now is: none of them comes while a test runs.
 */

/** Half an hour from now. */
export const everyHour = (): string => `${(new Date().getUTCMinutes() + 30) % 60} * * * *`;
/** Half a day from now, give or take an hour. */
export const everyDay = (): string => `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
/** Five or six months from now. */
export const everyYear = (): string => `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`;
