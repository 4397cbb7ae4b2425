import type { Migration } from '../migration.ts';

/**
 * When a credential of a tenant changed, and the step of a rotation that runs; null: none runs. A tenant without a row has its
 * first ones.
 */
export const credentials: Migration<object> = {
  name: '0009-credentials',
  loses: 'When credentials changed, and the step of a rotation that runs.',
  up: () => `
      CREATE TABLE registry.credentials (
        tenant_id bigint NOT NULL REFERENCES registry.tenants (id) ON DELETE CASCADE,
        name varchar(20) NOT NULL CHECK (name IN ('database', 'redis', 'storage', 'signing')),
        changed_at timestamptz(3) NOT NULL,
        step varchar(20),
        step_at timestamptz(3) NOT NULL,
        PRIMARY KEY (tenant_id, name)
      );
      REVOKE ALL ON registry.credentials FROM PUBLIC;
    `,
  down: () => 'DROP TABLE registry.credentials',
};
