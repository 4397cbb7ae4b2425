import type { TenantMigration } from './migration.ts';

/** What each function of 0012 deletes, in the words of that migration. */
const PURGES = {
  purge_launches: {
    table: 'lti_launches',
    key: 'id',
    expired: `launch_token IS NOT NULL AND launched_at < NEW.launched_at - interval '90 days'
      AND NOT EXISTS (SELECT FROM lti_grades g WHERE g.launch_id = l.launch_id) ORDER BY launched_at`,
  },
  purge_sessions: { table: 'sessions', key: 'id', expired: `expires_at < NEW.created_at - interval '1 day' ORDER BY expires_at` },
  purge_refresh_tokens: {
    table: 'refresh_tokens',
    key: 'token_hash',
    expired: `expires_at < NEW.created_at - interval '1 day' ORDER BY expires_at`,
  },
} as const;

const functions = (settings: string, isOne: (rows: string) => string): string =>
  Object.entries(PURGES)
    .map(
      ([name, { table, key, expired }]) => `
      CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT ${settings} AS $$
      BEGIN
        DELETE FROM ${table} WHERE ${key} ${isOne(`SELECT ${key} FROM ${table} l WHERE ${expired} LIMIT 320 FOR UPDATE SKIP LOCKED`)};
        RETURN NULL;
      END $$;`,
    )
    .join('');

/**
 * The functions of 0012 find expired rows by their index, and delete each by its key. A connection plans them once, and a plan that was made while the
 * tables were small reads whole tables: of 4,000 sessions that took 0.9 ms of each sixteenth sign-in or launch, and more with each row.
 */
export const purgeByIndex: TenantMigration = {
  name: '0042-purge-by-index',
  up: (tx) => tx.query(functions('SET enable_seqscan = off SET enable_bitmapscan = off', (rows) => `= ANY (ARRAY(${rows}))`)),
  // As 0012 has them, to the letter.
  down: (tx) => tx.query(functions('', (rows) => `IN (${rows.replace(/(sessions|refresh_tokens) l /, '$1 ')})`)),
};
