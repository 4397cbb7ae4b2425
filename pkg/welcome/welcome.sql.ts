import { USER_COLUMNS } from '../accounts/users/users.sql.ts';
import { LINK_POLICY, type LinkPolicy } from '../settings/link-policy.sql.ts';
import type { Executor } from '../store/postgres/database.ts';
import type { User } from '../store/postgres/tables.ts';

/** A user, and what the user's tenant offers. */
export interface WelcomeRow extends User {
  /** The kinds of the configured helper services. */
  readonly helpers: readonly string[];
  readonly hasLms: boolean;
  readonly linkPolicy: LinkPolicy;
}

const WELCOME = `
  SELECT ${USER_COLUMNS}, ARRAY(SELECT kind FROM helpers) AS helpers,
    EXISTS (SELECT FROM lti_platforms WHERE is_active) AS "hasLms", ${LINK_POLICY} AS "linkPolicy"
  FROM users WHERE id = $1 AND NOT is_system`;

/** One statement. */
export async function welcomeOf(sql: Executor, userId: number): Promise<WelcomeRow | undefined> {
  const [row] = await sql.prepared<WelcomeRow>('welcome', WELCOME, [userId]);
  return row;
}
