import type { Migration } from '../migration.ts';

/** The tenants, the location of their data, their hosts, and sealed copies of the secrets that were generated for them. */
export const tenants: Migration<object> = {
  name: '0001-tenants',
  loses: 'Which tenants there are, where their data are, and their sealed secrets.',
  up: () => `
      CREATE TABLE registry.shards (
        name varchar(63) PRIMARY KEY
      );
      CREATE TABLE registry.tenants (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        slug varchar(40) NOT NULL UNIQUE CHECK (slug ~ '^[a-z][a-z0-9-]{0,38}[a-z0-9]$'),
        namespace varchar(63) NOT NULL,
        namespace_uid varchar(64) NOT NULL,
        name varchar(253) NOT NULL,
        shard varchar(63) NOT NULL REFERENCES registry.shards (name),
        state varchar(20) NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'retained', 'deleting')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        state_changed_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX tenants_owner_idx ON registry.tenants (namespace_uid, name);
      CREATE INDEX tenants_shard_idx ON registry.tenants (shard);
      CREATE TABLE registry.hosts (
        host varchar(253) PRIMARY KEY,
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE
      );
      CREATE INDEX hosts_tenant_id_idx ON registry.hosts (tenant_id);
      CREATE TABLE registry.secrets (
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        name varchar(253) NOT NULL,
        sealed text NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, name)
      );
      REVOKE ALL ON ALL TABLES IN SCHEMA registry FROM PUBLIC;
      GRANT SELECT ON registry.tenants, registry.secrets TO carrel_worker;
    `,
  down: () => `
      DROP TABLE registry.secrets;
      DROP TABLE registry.hosts;
      DROP TABLE registry.tenants;
      DROP TABLE registry.shards;
    `,
};
