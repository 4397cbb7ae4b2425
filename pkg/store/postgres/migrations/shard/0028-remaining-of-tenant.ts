import type { Migration } from '../migration.ts';

/** As carrel.hold_limits. */
const PERSON_ENTRIES_MAX = 500_000;
const RESERVED = '(SELECT coalesce(sum(r.bytes), 0) FROM storage_reservations r WHERE r.expires_at > now())';

/**
 * For a statement that looks before bytes are stored: how many more the tenant may have, null for any number. It throws as
 * hold_limits does where the person or the tenant may have no more files. What is decided is decided by hold_limits, when the
 * bytes are counted.
 */
export const remainingOfTenant: Migration<object> = {
  name: '0028-remaining-of-tenant',
  up: () => `
      CREATE FUNCTION carrel.remaining_of_tenant(person bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      DECLARE
        who name := carrel.role_of_caller();
        bound record;
        entries bigint;
        together record;
      BEGIN
        SELECT t.storage_limit AS storage, t.files_limit AS files INTO bound FROM carrel.tenants t WHERE t.role = who;
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', who), true);
        SELECT u.entries INTO entries FROM users u WHERE u.id = person AND NOT u.is_system;
        IF entries >= ${PERSON_ENTRIES_MAX} THEN
          RAISE EXCEPTION 'Nobody may have more than ${PERSON_ENTRIES_MAX} files, folders and what belongs to them (older versions, share links, tags). Delete some for ever, or empty the trash.' USING ERRCODE = 'CL001';
        END IF;
        IF bound.storage IS NULL AND bound.files IS NULL THEN
          RETURN NULL;
        END IF;
        SELECT coalesce(sum(u.entries), 0) AS entries, coalesce(sum(u.storage_used), 0) AS bytes INTO together FROM users u;
        IF entries IS NOT NULL AND together.entries >= bound.files THEN
          RAISE EXCEPTION 'This institution has % files, folders and what belongs to them, as many as it may have. Ask its administrator to delete some for ever, or whoever runs the platform to raise the limit.',
            bound.files USING ERRCODE = 'CL002';
        END IF;
        -- Null where only files are bounded.
        RETURN CASE WHEN bound.storage IS NOT NULL THEN greatest(0, bound.storage - together.bytes - ${RESERVED}) END;
      END $$;
      REVOKE ALL ON FUNCTION carrel.remaining_of_tenant FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION carrel.remaining_of_tenant TO carrel_tenant;
    `,
  down: () => 'DROP FUNCTION carrel.remaining_of_tenant',
};
