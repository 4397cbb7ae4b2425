import { quoteIdentifier } from '../../pool.ts';
import { storeFilesText } from './0021-store-files.ts';
import type { TenantMigration } from './migration.ts';

/**
 * Whether the store encrypts an object at rest, by its own account when it took the bytes. Of versions from before it is unknown,
 * which is false, as of the files. A version that is restored has its object's.
 */
export const encryptedObjects: TenantMigration = {
  name: '0047-encrypted-objects',
  loses: 'Of which versions the object store encrypts the content.',
  up: ({ role }) => `
      ALTER TABLE file_versions ADD COLUMN is_encrypted boolean NOT NULL DEFAULT false;
      ${storeFilesText({ isReplaced: true, withEncryption: true })}
      REVOKE ALL ON FUNCTION store_files FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION store_files TO ${quoteIdentifier(role)};
    `,
  down: () => `
      ${storeFilesText({ isReplaced: true, withEncryption: false })}
      ALTER TABLE file_versions DROP COLUMN is_encrypted;
    `,
};
