import type { TenantMigration } from './migration.ts';

/**
 * A statement that sets the revision itself leaves updated_at: what a folder's move or deletion changes below it is not an update
 * of each file, which would put all of them first in the lists. Their entity tags change with the revision.
 */
export const folderMoves: TenantMigration = {
  name: '0034-folder-moves',
  up: () => TABLES.map((table) => triggerOf(table, 'WHEN (NEW.revision = OLD.revision)')).join('\n'),
  down: () => TABLES.map((table) => triggerOf(table, '')).join('\n'),
};

const TABLES = ['folders', 'files'] as const;

const triggerOf = (table: string, condition: string): string => `
  DROP TRIGGER touch ON ${table};
  CREATE TRIGGER touch BEFORE UPDATE ON ${table} FOR EACH ROW ${condition} EXECUTE FUNCTION carrel.touch();`;
