import type { TenantMigration } from './migration.ts';

const GROWS = 'NOT NEW.is_system AND (NEW.storage_used > OLD.storage_used OR NEW.entries > OLD.entries)';
const trigger = (when: string): string => `
      CREATE OR REPLACE TRIGGER limits BEFORE UPDATE OF storage_used, entries ON users FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION carrel.hold_limits();`;

/**
 * Whoever counts again what is there, with `carrel.recounting` on in their transaction, is not refused by limits. A tenant's role
 * may set that too, and may count less than there is anyway: what bounds it is the size of its tables.
 */
export const recountBeyondLimits: TenantMigration = {
  name: '0083-recount-beyond-limits',
  up: () => trigger(`${GROWS} AND current_setting('carrel.recounting', true) IS DISTINCT FROM 'on'`),
  down: () => trigger(GROWS),
};
