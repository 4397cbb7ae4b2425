import type { TenantMigration } from './migration.ts';

/**
 * Keys of metadata are in NFC, and servers look for them so. Where a file has a key in both forms, the other one gets a number,
 * so that no value is lost and both can be changed and deleted.
 */
export const keysInNfc: TenantMigration = {
  name: '0080-keys-in-nfc',
  up: () => `
      DO $$
      DECLARE
        entry record;
        wanted text;
        attempt integer;
      BEGIN
        FOR entry IN SELECT file_id, key FROM file_metadata WHERE key IS NOT NFC NORMALIZED ORDER BY file_id, key LOOP
          wanted := left(normalize(entry.key, NFC), 100);
          attempt := 0;
          WHILE EXISTS (SELECT FROM file_metadata m WHERE m.file_id = entry.file_id AND m.key = wanted) LOOP
            attempt := attempt + 1;
            wanted := left(normalize(entry.key, NFC), 93) || ' (' || attempt || ')';
          END LOOP;
          UPDATE file_metadata m SET key = wanted WHERE m.file_id = entry.file_id AND m.key = entry.key;
        END LOOP;
      END $$;
    `,
  down: () => 'SELECT 1', // a key in NFC is one for the release before as well
};
