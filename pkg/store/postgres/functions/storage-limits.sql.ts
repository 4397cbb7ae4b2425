import { AS_OWNER, inSchema, offer } from './function.ts';

/** Files and folders of one person, with what belongs to them; the trash included. */
const PERSON_ENTRIES_MAX = 500_000;

const personReached =
  `'Nobody may have more than ${PERSON_ENTRIES_MAX} files, folders and what belongs to them (older versions, share ` +
  `links, tags). Delete some for ever, or empty the trash.'`;
const filesReached =
  `'This institution has % files, folders and what belongs to them, as many as it may have. Ask its administrator to ` +
  `delete some for ever, or whoever runs the platform to raise the limit.'`;
const storageReached =
  `'This institution may store % bytes, and these would be more. Ask its administrator to delete something for ever, ` +
  `or whoever runs the platform to raise the limit.'`;

/** The bytes that uploads in progress have reserved. */
const RESERVED = '(SELECT coalesce(sum(r.bytes), 0) FROM storage_reservations r WHERE r.expires_at > now())';

/**
 * The part of a person's quota that uploads in progress have reserved. A row counts until it expires, so a server that dies
 * blocks nothing for long.
 *
 * reserve_storage makes or enlarges a reservation under the lock of the owner's row, so that racing uploads count each other. It
 * reserves at most `wanted` bytes, as many as are free; it returns null and changes nothing where fewer than `needed` are free.
 * It deletes expired rows of all people.
 *
 * count_storage adds bytes to their owner's usage in place of what was reserved for them. It returns false where the quota cannot
 * hold them beside the reservations of other uploads. It locks the owner's row before it adds those up, as reserve_storage does:
 * a sum in the statement that waits for the lock would miss what was reserved meanwhile.
 */
const RESERVATIONS = `
  CREATE OR REPLACE FUNCTION carrel.reserve_storage(
    reservation uuid, owner bigint, needed bigint, wanted bigint, at timestamptz, until timestamptz) RETURNS bigint
    LANGUAGE plpgsql AS $$
  DECLARE
    free bigint;
  BEGIN
    SELECT storage_quota - storage_used INTO free FROM users WHERE id = owner FOR NO KEY UPDATE;
    SELECT free - coalesce(sum(bytes), 0) INTO free FROM storage_reservations
      WHERE user_id = owner AND id <> reservation AND expires_at > at;
    IF free IS NULL OR free < needed THEN
      RETURN NULL;
    END IF;
    INSERT INTO storage_reservations (id, user_id, bytes, expires_at) VALUES (reservation, owner, least(free, wanted), until)
      ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes, expires_at = excluded.expires_at;
    DELETE FROM storage_reservations WHERE id IN
      (SELECT id FROM storage_reservations WHERE expires_at <= at ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED);
    RETURN least(free, wanted);
  END $$;

  CREATE OR REPLACE FUNCTION carrel.count_storage(reservation uuid, owner bigint, added bigint, at timestamptz) RETURNS boolean
  LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM users WHERE id = owner FOR NO KEY UPDATE;
    DELETE FROM storage_reservations WHERE id = reservation;
    UPDATE users SET storage_used = storage_used + added
      WHERE id = owner AND storage_used + added
        + (SELECT coalesce(sum(r.bytes), 0) FROM storage_reservations r WHERE r.user_id = owner AND r.expires_at > at)
          <= storage_quota;
    RETURN FOUND;
  END $$;
  ${offer('carrel_tenant', 'reserve_storage', 'count_storage')}
`;

/**
 * hold_limits refuses what would grow a person beyond PERSON_ENTRIES_MAX, or a tenant beyond the limits in carrel.tenants, which
 * the operator writes: the sum of its people, with what uploads in progress have reserved. What shrinks is never refused. Without
 * limits it costs a look-up by key. It runs as its owner, since carrel.tenants is the operator's.
 *
 * Changes of one person are exact. Changes of different people that are committed at the same moment do not see each other, so a
 * tenant may exceed its limits by the uploads of that moment: a row that all of them lock would make them wait for each other.
 *
 * hold_reservations: an insert or an update of a reservation counts before its bytes flow.
 *
 * remaining_of_tenant, for a statement that looks before bytes are stored, returns how many more the tenant may have, null for
 * any number. It throws as hold_limits does where the person or the tenant may have no more files. What is decided is decided by
 * hold_limits, when the bytes are counted.
 *
 * limits_of_tenant returns the limits themselves, for administrators to see; null: none. A tenant that provisioning has not made
 * here has no row.
 *
 * SQLSTATE CL001: of the person, CL002: of the tenant. The messages are for people.
 */
const LIMITS = `
  CREATE OR REPLACE FUNCTION carrel.hold_limits() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
  DECLARE
    bound record;
    bytes numeric;
  BEGIN
    IF NEW.entries > OLD.entries AND NEW.entries > ${PERSON_ENTRIES_MAX} THEN
      RAISE EXCEPTION ${personReached} USING ERRCODE = 'CL001';
    END IF;
    SELECT t.storage_limit AS storage, t.files_limit AS files INTO bound FROM carrel.tenants t WHERE t.role = TG_TABLE_SCHEMA;
    IF bound.storage IS NULL AND bound.files IS NULL THEN
      RETURN NEW;
    END IF;
    ${inSchema('TG_TABLE_SCHEMA')}
    IF NEW.entries > OLD.entries AND bound.files IS NOT NULL
      AND NEW.entries + (SELECT coalesce(sum(u.entries), 0) FROM users u WHERE u.id <> NEW.id) > bound.files THEN
      RAISE EXCEPTION ${filesReached},
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

  CREATE OR REPLACE FUNCTION carrel.hold_reservations() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
  DECLARE
    bound bigint;
  BEGIN
    SELECT t.storage_limit INTO bound FROM carrel.tenants t WHERE t.role = TG_TABLE_SCHEMA;
    IF bound IS NULL THEN
      RETURN NULL;
    END IF;
    ${inSchema('TG_TABLE_SCHEMA')}
    IF (SELECT coalesce(sum(u.storage_used), 0) FROM users u) + ${RESERVED} > bound THEN
      RAISE EXCEPTION ${storageReached},
        bound USING ERRCODE = 'CL002';
    END IF;
    RETURN NULL;
  END $$;

  CREATE OR REPLACE FUNCTION carrel.remaining_of_tenant(person bigint) RETURNS bigint
  LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
  DECLARE
    who name := carrel.role_of_caller();
    bound record;
    entries bigint;
    together record;
  BEGIN
    SELECT t.storage_limit AS storage, t.files_limit AS files INTO bound FROM carrel.tenants t WHERE t.role = who;
    ${inSchema('who')}
    SELECT u.entries INTO entries FROM users u WHERE u.id = person AND NOT u.is_system;
    IF entries >= ${PERSON_ENTRIES_MAX} THEN
      RAISE EXCEPTION ${personReached} USING ERRCODE = 'CL001';
    END IF;
    IF bound.storage IS NULL AND bound.files IS NULL THEN
      RETURN NULL;
    END IF;
    SELECT coalesce(sum(u.entries), 0) AS entries, coalesce(sum(u.storage_used), 0) AS bytes INTO together FROM users u;
    IF entries IS NOT NULL AND together.entries >= bound.files THEN
      RAISE EXCEPTION ${filesReached},
        bound.files USING ERRCODE = 'CL002';
    END IF;
    -- Null where only files are bounded.
    RETURN CASE WHEN bound.storage IS NOT NULL THEN greatest(0, bound.storage - together.bytes - ${RESERVED}) END;
  END $$;

  CREATE OR REPLACE FUNCTION carrel.limits_of_tenant() RETURNS TABLE (storage bigint, files bigint)
  LANGUAGE plpgsql STABLE ${AS_OWNER} SET search_path = '' AS $$
  BEGIN
    RETURN QUERY SELECT t.storage_limit, t.files_limit FROM carrel.tenants t WHERE t.role = carrel.role_of_caller();
  END $$;
  ${offer('carrel_tenant', 'remaining_of_tenant', 'limits_of_tenant')}
`;

/** Quotas of people and limits of tenants. */
export const storageFunctions = [RESERVATIONS, LIMITS].join('\n');
