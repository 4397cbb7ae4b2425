import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

export const RESERVE_STORAGE = {
  signature: `reserve_storage(reservation uuid, owner bigint, needed bigint, wanted bigint, at timestamptz, until timestamptz) RETURNS bigint LANGUAGE plpgsql`,
  body: `AS $$
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
      END $$`,
};

/**
 * The part of a user's quota that uploads in progress have reserved. A row counts until it expires, so a server that dies blocks
 * nothing for long. reserve_storage makes or enlarges a reservation under the lock of the owner's row, so that racing uploads
 * count each other. It reserves at most `wanted` bytes, as many as are free; it returns null and changes nothing where fewer than
 * `needed` are free. It deletes expired rows of all users.
 */
export const storageReservations: TenantMigration = {
  name: '0018-storage-reservations',
  loses: 'The space that uploads in progress have reserved.',
  up: ({ role }) => `
      CREATE TABLE storage_reservations (
        id uuid PRIMARY KEY,
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        bytes bigint NOT NULL CHECK (bytes >= 0),
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX storage_reservations_user_id_idx ON storage_reservations (user_id);
      CREATE INDEX storage_reservations_expires_at_idx ON storage_reservations (expires_at);

      CREATE FUNCTION ${RESERVE_STORAGE.signature} SET search_path FROM CURRENT ${RESERVE_STORAGE.body};
      REVOKE ALL ON FUNCTION reserve_storage FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION reserve_storage TO ${quoteIdentifier(role)};
    `,
  down: () => `
      DROP FUNCTION reserve_storage;
      DROP TABLE storage_reservations;
    `,
};
