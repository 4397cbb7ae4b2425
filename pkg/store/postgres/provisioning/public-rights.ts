/**
 * Rights of PUBLIC in a shard's database that only a superuser may take away: what is created, locked or written with them
 * belongs to no schema, so no other right of a tenant's role bounds it. Large objects fill the disk, advisory locks fill the lock
 * table that all share, logical messages fill the write-ahead log. One statement; it writes nothing when they are gone already.
 * docs/operate/install.md gives it to DBAs.
 */
export const REVOKE_PUBLIC_RIGHTS = `
DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN
    SELECT oid FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege('public', oid, 'EXECUTE')
      AND (proname ~ '^pg_(try_)?advisory_' OR proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
  END LOOP;
END $$`;
