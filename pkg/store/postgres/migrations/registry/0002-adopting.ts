import type { Migration } from '../migration.ts';

/** Whether data that were kept have been taken up and not been cleaned yet of what belonged to their former time. */
export const adopting: Migration<object> = {
  name: '0002-adopting',
  up: (tx) => tx.query('ALTER TABLE registry.tenants ADD COLUMN adopting boolean NOT NULL DEFAULT false'),
  down: (tx) => tx.query('ALTER TABLE registry.tenants DROP COLUMN adopting'),
};
