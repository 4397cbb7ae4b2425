import type { Migration } from '../migration.ts';

/**
 * `unknown_deployments`: deployments of an LMS that launched and are missing from their registration, a Kubernetes resource
 * (`managed_ref`). A tenant inserts its own rows, the operator reports them. A registration has a fixed number of slots, so the
 * rows are bounded however many launches race.
 */
export const unknownDeployments: Migration<object> = {
  name: '0005-unknown-deployments',
  loses: 'Which deployments launched without being registered.',
  up: () => `
      CREATE TABLE carrel.unknown_deployments (
        tenant name NOT NULL DEFAULT current_user,
        managed_ref varchar(320) NOT NULL,
        slot integer NOT NULL CHECK (slot BETWEEN 0 AND 19),
        deployment_id varchar(255) NOT NULL,
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        told_at timestamptz(3),
        PRIMARY KEY (tenant, managed_ref, slot)
      );
      ALTER TABLE carrel.unknown_deployments ENABLE ROW LEVEL SECURITY;
      CREATE POLICY unknown_deployments_of_tenant ON carrel.unknown_deployments TO carrel_tenant
        USING (tenant = current_user) WITH CHECK (tenant = current_user);
      REVOKE ALL ON carrel.unknown_deployments FROM PUBLIC;
      GRANT SELECT, INSERT (managed_ref, slot, deployment_id), UPDATE (deployment_id, noted_at) ON carrel.unknown_deployments TO carrel_tenant;
    `,
  down: () => 'DROP TABLE carrel.unknown_deployments',
};
