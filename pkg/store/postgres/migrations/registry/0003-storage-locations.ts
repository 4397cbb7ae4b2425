import type { Migration } from '../migration.ts';

/**
 * The storage location of each tenant, so that no two tenants share one, and the name of this registry, which markers in the
 * storage carry.
 */
export const storageLocations: Migration<object> = {
  name: '0003-storage-locations',
  loses:
    'Which storage location is whose, and the installation’s name: the markers in the storage are another installation’s afterwards.',
  up: () => `
      CREATE TABLE registry.storage_locations (
        endpoint varchar(512) NOT NULL,
        bucket varchar(255) NOT NULL,
        prefix varchar(1024) NOT NULL,
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        own boolean NOT NULL,
        PRIMARY KEY (endpoint, bucket, prefix),
        UNIQUE (tenant_id, own)
      );
      CREATE TABLE registry.installation (
        sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
        id uuid NOT NULL DEFAULT gen_random_uuid()
      );
      INSERT INTO registry.installation DEFAULT VALUES;
      REVOKE ALL ON registry.storage_locations, registry.installation FROM PUBLIC;
    `,
  down: () => `
      DROP TABLE registry.installation;
      DROP TABLE registry.storage_locations;
    `,
};
