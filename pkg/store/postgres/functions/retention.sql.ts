import { BY_INDEX, triggerFunction } from './function.ts';

const deletes = (table: string, key: string, expired: string): string =>
  `DELETE FROM ${table}
   WHERE ${key} = ANY (ARRAY(SELECT ${key} FROM ${table} l WHERE ${expired} LIMIT 320 FOR UPDATE SKIP LOCKED));`;

/**
 * Inserts delete expired rows, so that no table grows for ever (docs/design/events-and-jobs.md, Retention: launches after 90
 * days, sessions and refresh tokens a day after their end, since clocks differ). One insert in sixteen deletes, at most 320 rows;
 * the others cost nothing more. The present time is that of the inserted row, which the server's clock wrote. A launch with
 * grades stays; its first grade clears its token, so the index does not contain such launches. These are triggers, because a
 * statement would cost each login and each launch a round trip.
 *
 * Each row is deleted by its key: of 4,000 sessions a plan that reads the table took 0.9 ms of each sixteenth sign-in or launch,
 * and more with each row.
 */
export const retentionFunctions = [
  triggerFunction(
    'purge_launches',
    {
      body: deletes(
        'lti_launches',
        'id',
        `launch_token IS NOT NULL AND launched_at < NEW.launched_at - interval '90 days'
      AND NOT EXISTS (SELECT FROM lti_grades g WHERE g.launch_id = l.launch_id) ORDER BY launched_at`,
      ),
    },
    BY_INDEX,
  ),
  triggerFunction(
    'purge_sessions',
    { body: deletes('sessions', 'id', `expires_at < NEW.created_at - interval '1 day' ORDER BY expires_at`) },
    BY_INDEX,
  ),
  triggerFunction(
    'purge_refresh_tokens',
    { body: deletes('refresh_tokens', 'token_hash', `expires_at < NEW.created_at - interval '1 day' ORDER BY expires_at`) },
    BY_INDEX,
  ),
].join('\n');
