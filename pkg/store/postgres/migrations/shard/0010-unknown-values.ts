import type { Migration } from '../migration.ts';

/**
 * `unknown_values`: issuers and client ids that an LMS sent and that differ from those of the registration, a Kubernetes resource
 * (`managed_ref`). A tenant inserts its own rows, the operator makes Events of them. Each field has five slots, so the rows are
 * bounded although anybody can begin a login.
 */
export const unknownValues: Migration<object> = {
  name: '0010-unknown-values',
  loses: 'Which issuers and client ids launches came with in place of the registered ones.',
  up: () => `
      CREATE TABLE carrel.unknown_values (
        tenant name NOT NULL DEFAULT current_user,
        managed_ref varchar(320) NOT NULL,
        field varchar(20) NOT NULL CHECK (field IN ('iss', 'client_id')),
        slot integer NOT NULL CHECK (slot BETWEEN 0 AND 4),
        value varchar(255) NOT NULL,
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        reported_at timestamptz(3),
        PRIMARY KEY (tenant, managed_ref, field, slot)
      );
      ALTER TABLE carrel.unknown_values ENABLE ROW LEVEL SECURITY;
      ALTER TABLE carrel.unknown_values FORCE ROW LEVEL SECURITY;
      CREATE POLICY unknown_values_of_tenant ON carrel.unknown_values TO carrel_tenant
        USING (tenant = current_user) WITH CHECK (tenant = current_user);
      CREATE POLICY unknown_values_of_operator ON carrel.unknown_values TO CURRENT_USER USING (true) WITH CHECK (true);
      REVOKE ALL ON carrel.unknown_values FROM PUBLIC;
      GRANT SELECT, INSERT (managed_ref, field, slot, value), UPDATE (value, noted_at) ON carrel.unknown_values TO carrel_tenant;
    `,
  down: () => 'DROP TABLE carrel.unknown_values',
};
