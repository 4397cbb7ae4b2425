import type { Migration } from '../migration.ts';

/**
 * The tenants, the location of their data, their hosts, and sealed copies of the secrets that were generated for them.
 *
 * - `tenants.adopting`: retained data were adopted, and the clean-up of what their former tenant left is not finished.
 *   `connections`: how many the role may open, since the sum for each shard is bounded; null: it is read from the role.
 * - A tenant's move to another shard (pkg/tenantdata/move.ts): while `moving_until` is ahead, `moving_by` copies its rows to
 *   `moving_to`, and nobody else changes its role. `former_shard`: it has moved, and what it left there is not removed yet.
 * - `hosts.left_at`: when a tenant gave up a host; for some time after that (hosts.ts) no other tenant gets it. Null: the tenant
 *   uses the host.
 * - `storage_locations`: the storage location of each tenant, so that no two tenants share one. `own`: it was made for the
 *   tenant.
 * - `installation`: the name of this registry, which markers in the storage carry. `rollouts_paused_at`: since when no rollout of
 *   a new image begins; null: rollouts are not paused.
 * - `adoption_tokens`: whoever has the token adopts data that another resource retained; only its SHA-256 is stored.
 *   `adoption_failures`: wrong tokens, by tenant and by the resource that gave them. `retry_at` is when the next token is
 *   compared.
 * - `credentials`: when a credential of a tenant changed, how often, and the step of a rotation that runs; null: none runs. A
 *   tenant without a row has its first ones.
 */
export const baseline: Migration<object> = {
  name: '0001-baseline',
  loses: 'The whole registry: which tenants there are, where their data are, and their sealed secrets.',
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
        state_changed_at timestamptz(3) NOT NULL DEFAULT now(),
        adopting boolean NOT NULL DEFAULT false,
        connections integer CHECK (connections >= 0),
        moving_to varchar(63),
        moving_by uuid,
        moving_until timestamptz(3),
        former_shard varchar(63)
      );
      CREATE INDEX tenants_owner_idx ON registry.tenants (namespace_uid, name);
      CREATE INDEX tenants_shard_idx ON registry.tenants (shard);

      CREATE TABLE registry.hosts (
        host varchar(253) PRIMARY KEY,
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        left_at timestamptz(3)
      );
      CREATE INDEX hosts_tenant_id_idx ON registry.hosts (tenant_id);

      CREATE TABLE registry.secrets (
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        name varchar(253) NOT NULL,
        sealed text NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, name)
      );

      CREATE TABLE registry.storage_locations (
        endpoint varchar(512) NOT NULL,
        bucket varchar(255) NOT NULL,
        prefix varchar(1024) NOT NULL,
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        own boolean NOT NULL,
        PRIMARY KEY (endpoint, bucket, prefix, tenant_id),
        UNIQUE (tenant_id, own)
      );

      CREATE TABLE registry.installation (
        sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
        id uuid NOT NULL DEFAULT gen_random_uuid(),
        rollouts_paused_at timestamptz(3)
      );
      INSERT INTO registry.installation DEFAULT VALUES;

      CREATE TABLE registry.adoption_tokens (
        tenant_id bigint PRIMARY KEY REFERENCES registry.tenants (id) ON DELETE CASCADE,
        token_hash varchar(64) NOT NULL,
        expires_at timestamptz(3) NOT NULL
      );
      CREATE TABLE registry.adoption_failures (
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        namespace_uid varchar(64) NOT NULL,
        name varchar(253) NOT NULL,
        token_hash varchar(64) NOT NULL,
        failures integer NOT NULL CHECK (failures > 0),
        failed_at timestamptz(3) NOT NULL DEFAULT now(),
        retry_at timestamptz(3) NOT NULL,
        PRIMARY KEY (tenant_id, namespace_uid, name)
      );

      CREATE TABLE registry.credentials (
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        name varchar(20) NOT NULL CHECK (name IN ('database', 'redis', 'storage', 'signing', 'data')),
        changed_at timestamptz(3) NOT NULL,
        step varchar(20),
        step_at timestamptz(3) NOT NULL,
        generation integer NOT NULL DEFAULT 0,
        PRIMARY KEY (tenant_id, name)
      );

      REVOKE ALL ON ALL TABLES IN SCHEMA registry FROM PUBLIC;
      GRANT SELECT ON registry.tenants, registry.secrets TO carrel_worker;
    `,
  down: () => `
      DROP TABLE registry.credentials, registry.adoption_failures, registry.adoption_tokens, registry.installation,
        registry.storage_locations, registry.secrets, registry.hosts, registry.tenants, registry.shards;
    `,
};
