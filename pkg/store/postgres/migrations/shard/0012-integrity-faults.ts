import type { Migration } from '../migration.ts';

/**
 * `integrity_faults`: what the last integrity check of a tenant found, a row for each kind of fault. The worker writes them with
 * the tenant's role, the operator reports them as Events of the Tenant.
 */
export const integrityFaults: Migration<object> = {
  name: '0012-integrity-faults',
  loses: 'What the last integrity check of each tenant found.',
  up: () => `
      CREATE TABLE carrel.integrity_faults (
        tenant name NOT NULL DEFAULT current_user,
        kind varchar(30) NOT NULL CHECK (kind IN ('missing_object', 'wrong_size', 'wrong_checksum', 'unowned_object', 'wrong_usage')),
        found bigint NOT NULL CHECK (found >= 0),
        mended bigint NOT NULL CHECK (mended BETWEEN 0 AND found),
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        reported_at timestamptz(3),
        PRIMARY KEY (tenant, kind)
      );
      ALTER TABLE carrel.integrity_faults ENABLE ROW LEVEL SECURITY;
      ALTER TABLE carrel.integrity_faults FORCE ROW LEVEL SECURITY;
      CREATE POLICY integrity_faults_of_tenant ON carrel.integrity_faults TO carrel_tenant
        USING (tenant = current_user) WITH CHECK (tenant = current_user);
      CREATE POLICY integrity_faults_of_operator ON carrel.integrity_faults TO CURRENT_USER USING (true) WITH CHECK (true);
      REVOKE ALL ON carrel.integrity_faults FROM PUBLIC;
      GRANT SELECT, INSERT (kind, found, mended), UPDATE (found, mended, noted_at) ON carrel.integrity_faults TO carrel_tenant;
    `,
  down: () => 'DROP TABLE carrel.integrity_faults',
};
