import type { TenantMigration } from './migration.ts';

/**
 * Others' files of a folder are read owner by owner in the order of the list, a page at most of each, however many a folder
 * holds. The pair is one expression, so that no other index gives that order: one that begins with the folder or the owner looks
 * cheaper to the planner and is read whole.
 */
export const guestsInOrder: TenantMigration = {
  name: '0035-guests-in-order',
  up: () => guestsBy('(ARRAY[folder_id, owner_id]), updated_at, id'),
  down: () => guestsBy('folder_id, owner_id'),
};

const guestsBy = (columns: string): string => `
  DROP INDEX files_guests_idx;
  CREATE INDEX files_guests_idx ON files (${columns});`;
