import { quoteIdentifier } from '../../pool.ts';
import type { TenantMigration } from './migration.ts';

/**
 * CRC-32 of contents, which ZIP archives hold (docs/decisions/files.md). Null: not known, as of all versions from before; the
 * integrity check fills in those that it reads. NOT VALID: the rows that are there have none, so that nothing need be read.
 */
export const contentCrcs: TenantMigration = {
  name: '0150-content-crcs',
  loses: 'The CRC-32 of contents: ZIP archives of what was uploaded until then have no length and no ranges.',
  up: ({ role }) => `
      ALTER TABLE file_versions ADD COLUMN crc32 bigint;
      ALTER TABLE file_versions ADD CONSTRAINT file_versions_crc32_check CHECK (crc32 BETWEEN 0 AND 4294967295) NOT VALID;
      GRANT UPDATE (crc32) ON file_versions TO ${quoteIdentifier(role)};
    `,
  down: () => 'ALTER TABLE file_versions DROP COLUMN crc32',
};
