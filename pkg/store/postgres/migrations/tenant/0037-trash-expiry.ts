import type { TenantMigration } from './migration.ts';

/**
 * When something in the trash is deleted for ever: it keeps the end that it had when it was deleted. Null, from before: 30 days
 * after the deletion.
 */
export const trashExpiry: TenantMigration = {
  name: '0037-trash-expiry',
  loses: 'When what is in the trash expires: 30 days after its deletion, whatever the tenant keeps now.',
  up: () => `
      ALTER TABLE folders ADD COLUMN expires_at timestamptz(3);
      ALTER TABLE files ADD COLUMN expires_at timestamptz(3);
    `,
  down: () => `
      ALTER TABLE files DROP COLUMN expires_at;
      ALTER TABLE folders DROP COLUMN expires_at;
    `,
};
