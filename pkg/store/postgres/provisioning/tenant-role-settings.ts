/** What Postgres itself keeps for a tenant's login role. */
export const ROLE_SETTINGS: Readonly<Record<string, string>> = {
  search_path: '"$user", ext',
  statement_timeout: `'8s'`,
  lock_timeout: `'5s'`,
  idle_in_transaction_session_timeout: `'30s'`,
};
/** Only a superuser, or a role that was granted it, may set this one for others. */
export const TEMP_FILE_LIMIT = `'1GB'`;
