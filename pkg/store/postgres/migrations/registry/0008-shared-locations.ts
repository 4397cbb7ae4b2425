import type { Migration } from '../migration.ts';

/** Each tenant has a row, also where two tenants shared a location before locations were recorded. */
export const sharedLocations: Migration<object> = {
  name: '0008-shared-locations',
  loses: 'Of tenants that share one storage location, the rows of all but the first.',
  up: () => `
      ALTER TABLE registry.storage_locations
        DROP CONSTRAINT storage_locations_pkey, ADD PRIMARY KEY (endpoint, bucket, prefix, tenant_id);
    `,
  down: () => `
      DELETE FROM registry.storage_locations a USING registry.storage_locations b
        WHERE (a.endpoint, a.bucket, a.prefix) = (b.endpoint, b.bucket, b.prefix) AND a.tenant_id > b.tenant_id;
      ALTER TABLE registry.storage_locations
        DROP CONSTRAINT storage_locations_pkey, ADD PRIMARY KEY (endpoint, bucket, prefix);
    `,
};
