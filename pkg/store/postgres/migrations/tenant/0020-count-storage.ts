import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

export const COUNT_STORAGE = {
  signature: `count_storage(reservation uuid, owner bigint, added bigint, at timestamptz) RETURNS boolean LANGUAGE plpgsql`,
  body: `AS $$
      BEGIN
        PERFORM FROM users WHERE id = owner FOR NO KEY UPDATE;
        DELETE FROM storage_reservations WHERE id = reservation;
        UPDATE users SET storage_used = storage_used + added
          WHERE id = owner AND storage_used + added
            + (SELECT coalesce(sum(r.bytes), 0) FROM storage_reservations r WHERE r.user_id = owner AND r.expires_at > at) <= storage_quota;
        RETURN FOUND;
      END $$`,
};

/**
 * count_storage adds bytes to their owner's usage in place of what was reserved for them. It returns false where the quota cannot
 * hold them beside the reservations of other uploads. It locks the owner's row before it adds those up, as reserve_storage does:
 * a sum in the statement that waits for the lock would miss what was reserved meanwhile.
 */
export const countStorage: TenantMigration = {
  name: '0020-count-storage',
  up: ({ role }) => `
      CREATE FUNCTION ${COUNT_STORAGE.signature} SET search_path FROM CURRENT ${COUNT_STORAGE.body};
      REVOKE ALL ON FUNCTION count_storage FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION count_storage TO ${quoteIdentifier(role)};
    `,
  down: () => 'DROP FUNCTION count_storage',
};
