import type { Migration } from '../migration.ts';

/** Files and folders of one person, the trash included. */
const PERSON_ENTRIES_MAX = 500_000;
/** Jobs of one tenant that wait. */
const TENANT_JOBS_MAX = 10_000;

const storageReached = `'This institution may store % bytes, and these would be more. Ask its administrator to delete something for ever, or whoever runs the platform to raise the limit.'`;
/** What uploads in progress have reserved. */
const RESERVED = '(SELECT coalesce(sum(r.bytes), 0) FROM storage_reservations r WHERE r.expires_at > now())';

/**
 * What bounds the rows and bytes of a person and of a tenant.
 *
 * count_entries keeps users.entries: the files and folders that somebody owns. It is a trigger of statements, so that a statement
 * that makes or deletes thousands changes that row once. hold_limits refuses what would grow a person beyond PERSON_ENTRIES_MAX,
 * or a tenant beyond the limits in carrel.tenants, which the operator writes: the sum of its people, with what uploads in
 * progress have reserved. What shrinks is never refused. Without limits it costs a look-up by key. The two that read limits run
 * as their owner, since carrel.tenants is the operator's.
 *
 * Changes of one person are exact. Changes of different people that are committed at the same moment do not see each other, so a
 * tenant may exceed its limits by the uploads of that moment: a row that all of them lock would make them wait for each other.
 *
 * SQLSTATE CL001: of the person, CL002: of the tenant, CL003: jobs. The messages are for people.
 */
export const limits: Migration<object> = {
  name: '0020-limits',
  loses: 'Limits of tenants, until the operator writes them again.',
  up: () => `
      ALTER TABLE carrel.tenants ADD COLUMN storage_limit bigint CHECK (storage_limit >= 0), ADD COLUMN files_limit bigint CHECK (files_limit >= 0);

      CREATE FUNCTION carrel.count_entries() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        IF TG_OP = 'INSERT' THEN
          UPDATE users u SET entries = u.entries + c.count
            FROM (SELECT owner_id, count(*) AS count FROM changed GROUP BY owner_id) c WHERE u.id = c.owner_id;
        ELSE
          UPDATE users u SET entries = greatest(0, u.entries - c.count)
            FROM (SELECT owner_id, count(*) AS count FROM changed GROUP BY owner_id) c WHERE u.id = c.owner_id;
        END IF;
        RETURN NULL;
      END $$;

      CREATE FUNCTION carrel.hold_limits() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      DECLARE
        bound record;
        bytes numeric;
      BEGIN
        IF NEW.entries > OLD.entries AND NEW.entries > ${PERSON_ENTRIES_MAX} THEN
          RAISE EXCEPTION 'Nobody may have more than ${PERSON_ENTRIES_MAX} files and folders. Delete some for ever, or empty the trash.' USING ERRCODE = 'CL001';
        END IF;
        SELECT t.storage_limit AS storage, t.files_limit AS files INTO bound FROM carrel.tenants t WHERE t.role = TG_TABLE_SCHEMA;
        IF bound.storage IS NULL AND bound.files IS NULL THEN
          RETURN NEW;
        END IF;
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        IF NEW.entries > OLD.entries AND bound.files IS NOT NULL
          AND NEW.entries + (SELECT coalesce(sum(u.entries), 0) FROM users u WHERE u.id <> NEW.id) > bound.files THEN
          RAISE EXCEPTION 'This institution has % files and folders, as many as it may have. Ask its administrator to delete some for ever, or whoever runs the platform to raise the limit.',
            bound.files USING ERRCODE = 'CL002';
        END IF;
        IF NEW.storage_used > OLD.storage_used AND bound.storage IS NOT NULL THEN
          SELECT NEW.storage_used + coalesce(sum(u.storage_used), 0) + ${RESERVED} INTO bytes FROM users u WHERE u.id <> NEW.id;
          IF bytes > bound.storage THEN
            RAISE EXCEPTION ${storageReached},
              bound.storage USING ERRCODE = 'CL002';
          END IF;
        END IF;
        RETURN NEW;
      END $$;

      -- Uploads in progress: an insert or an update of a reservation counts before its bytes flow.
      CREATE FUNCTION carrel.hold_reservations() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      DECLARE
        bound bigint;
      BEGIN
        SELECT t.storage_limit INTO bound FROM carrel.tenants t WHERE t.role = TG_TABLE_SCHEMA;
        IF bound IS NULL THEN
          RETURN NULL;
        END IF;
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        IF (SELECT coalesce(sum(u.storage_used), 0) FROM users u) + ${RESERVED} > bound THEN
          RAISE EXCEPTION ${storageReached},
            bound USING ERRCODE = 'CL002';
        END IF;
        RETURN NULL;
      END $$;

      CREATE FUNCTION carrel.bound_work() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
      BEGIN
        -- Not where the operator moves or restores what is there.
        IF (SELECT count(*) FROM (SELECT FROM carrel.work w WHERE w.tenant = current_user LIMIT ${TENANT_JOBS_MAX + 1}) w) > ${TENANT_JOBS_MAX} THEN
          RAISE EXCEPTION 'More than ${TENANT_JOBS_MAX} jobs of this institution wait. Try again later.' USING ERRCODE = 'CL003';
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER bound AFTER INSERT ON carrel.work FOR EACH STATEMENT EXECUTE FUNCTION carrel.bound_work();

      REVOKE ALL ON FUNCTION carrel.count_entries, carrel.hold_limits, carrel.hold_reservations, carrel.bound_work FROM PUBLIC;
    `,
  down: () => `
      DROP TRIGGER bound ON carrel.work;
      DROP FUNCTION carrel.bound_work, carrel.hold_reservations, carrel.hold_limits, carrel.count_entries;
      ALTER TABLE carrel.tenants DROP COLUMN storage_limit, DROP COLUMN files_limit;
    `,
};
