import type { Migration } from '../migration.ts';

/**
 * `deployment_changes`: tenants whose waiting or admitted deployments have changed, for the operator, which shows them in the
 * status of the LtiRegistrations. One row a tenant, so the rows are bounded; the operator deletes it and reads the tenant's
 * tables. And the entries of the audit log for what administrators decide, by a trigger (migration 0230 of the tenants).
 */
export const deploymentChanges: Migration<object> = {
  name: '0230-deployment-changes',
  loses:
    'That deployments of a tenant began to wait, or were admitted, in the last seconds: the status shows them after the next change.',
  up: () => `
      CREATE TABLE carrel.deployment_changes (
        tenant name PRIMARY KEY DEFAULT current_user,
        changed_at timestamptz(3) NOT NULL DEFAULT now()
      );
      ALTER TABLE carrel.deployment_changes ENABLE ROW LEVEL SECURITY;
      ALTER TABLE carrel.deployment_changes FORCE ROW LEVEL SECURITY;
      CREATE POLICY deployment_changes_of_tenant ON carrel.deployment_changes TO carrel_tenant
        USING (tenant = current_user) WITH CHECK (tenant = current_user);
      CREATE POLICY deployment_changes_of_operator ON carrel.deployment_changes TO CURRENT_USER USING (true) WITH CHECK (true);
      REVOKE ALL ON carrel.deployment_changes FROM PUBLIC;
      GRANT SELECT, INSERT (changed_at), UPDATE (changed_at) ON carrel.deployment_changes TO carrel_tenant;

      CREATE FUNCTION carrel.audit_lti_deployment_requests() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        PERFORM write_audit(CASE NEW.status WHEN 'admitted' THEN 'deployment.admit' ELSE 'deployment.refuse' END, 'registration', t.uuid, t.client_id,
          audit_changes('{}', jsonb_build_object('deployment_id', NEW.deployment_id)))
        FROM lti_tools t WHERE t.id = NEW.tool_id;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION carrel.audit_lti_deployment_requests FROM PUBLIC;
    `,
  down: () => `
      DROP FUNCTION carrel.audit_lti_deployment_requests;
      DROP TABLE carrel.deployment_changes;
    `,
};
