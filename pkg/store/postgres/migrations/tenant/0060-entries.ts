import type { TenantMigration } from './migration.ts';

/** As pkg/content/metadata/metadata-bytes.sql.ts: whole KiB of key and value. */
const ENTRY_BYTES = '((octet_length(m.key) + coalesce(octet_length(m.value), 0) + 1023) / 1024 * 1024)';

/**
 * users.entries: files and folders that somebody owns, kept by triggers; and metadata count in users.storage_used. Both are
 * counted here once, while nobody writes files, folders and metadata: an index scan. What servers of the former release write
 * meanwhile without counting it, the integrity check counts.
 */
export const entries: TenantMigration = {
  name: '0060-entries',
  up: () => `
      LOCK TABLE files, folders, file_metadata IN SHARE ROW EXCLUSIVE MODE;
      ALTER TABLE users ADD COLUMN entries bigint NOT NULL DEFAULT 0 CONSTRAINT users_entries_check CHECK (entries >= 0);
      UPDATE users u SET entries = c.count
        FROM (SELECT owner_id, count(*) AS count FROM (SELECT owner_id FROM files UNION ALL SELECT owner_id FROM folders) o GROUP BY owner_id) c
        WHERE c.owner_id = u.id;
      UPDATE users u SET storage_used = u.storage_used + c.bytes
        FROM (SELECT f.owner_id, sum(${ENTRY_BYTES}) AS bytes FROM file_metadata m JOIN files f ON f.id = m.file_id GROUP BY f.owner_id) c
        WHERE c.owner_id = u.id;
      ${['files', 'folders']
        .map(
          (table) => `
      CREATE TRIGGER count_new AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION carrel.count_entries();
      CREATE TRIGGER count_gone AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION carrel.count_entries();`,
        )
        .join('')}
      CREATE TRIGGER limits BEFORE UPDATE OF storage_used, entries ON users FOR EACH ROW
        WHEN (NOT NEW.is_system AND (NEW.storage_used > OLD.storage_used OR NEW.entries > OLD.entries)) EXECUTE FUNCTION carrel.hold_limits();
      CREATE TRIGGER limits AFTER INSERT ON storage_reservations FOR EACH ROW WHEN (NEW.bytes > 0) EXECUTE FUNCTION carrel.hold_reservations();
      CREATE TRIGGER limits_of_more AFTER UPDATE OF bytes ON storage_reservations FOR EACH ROW WHEN (NEW.bytes > OLD.bytes)
        EXECUTE FUNCTION carrel.hold_reservations();
    `,
  down: () => `
      DROP TRIGGER limits_of_more ON storage_reservations;
      DROP TRIGGER limits ON storage_reservations;
      DROP TRIGGER limits ON users;
      ${['files', 'folders'].map((table) => `DROP TRIGGER count_gone ON ${table}; DROP TRIGGER count_new ON ${table};`).join('\n      ')}
      UPDATE users u SET storage_used = greatest(0, u.storage_used - c.bytes)
        FROM (SELECT f.owner_id, sum(${ENTRY_BYTES}) AS bytes FROM file_metadata m JOIN files f ON f.id = m.file_id GROUP BY f.owner_id) c
        WHERE c.owner_id = u.id;
      ALTER TABLE users DROP COLUMN entries;
    `,
};
