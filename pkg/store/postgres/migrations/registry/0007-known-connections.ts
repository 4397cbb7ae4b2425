import type { Migration } from '../migration.ts';

/** Null: the limit of the tenant's role was set before limits were recorded; it is read from the role. */
export const knownConnections: Migration<object> = {
  name: '0007-known-connections',
  loses: 'The recorded limits of connections; the roles keep theirs, and the operator reads them again.',
  up: () => `
      ALTER TABLE registry.tenants ALTER COLUMN connections DROP NOT NULL, ALTER COLUMN connections DROP DEFAULT;
      UPDATE registry.tenants SET connections = NULL WHERE state = 'active';
    `,
  down: () => `
      UPDATE registry.tenants SET connections = 0 WHERE connections IS NULL;
      ALTER TABLE registry.tenants ALTER COLUMN connections SET DEFAULT 0, ALTER COLUMN connections SET NOT NULL;
    `,
};
