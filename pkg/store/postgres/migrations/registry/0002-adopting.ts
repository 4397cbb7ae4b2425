import type { Migration } from '../migration.ts';

/** `adopting`: retained data were adopted, and the clean-up of what their former tenant left is not finished. */
export const adopting: Migration<object> = {
  name: '0002-adopting',
  loses: 'That the clean-up after an adoption is not finished.',
  up: () => 'ALTER TABLE registry.tenants ADD COLUMN adopting boolean NOT NULL DEFAULT false',
  down: () => 'ALTER TABLE registry.tenants DROP COLUMN adopting',
};
