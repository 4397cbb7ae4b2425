import type { TenantMigration } from './migration.ts';

/**
 * What becomes of deployments that a registration does not list (`deploymentPolicy` of its LtiRegistration): with `Confirm` they
 * wait here until an administrator admits them, which inserts them into `lti_deployments`, or refuses them.
 */
export const deploymentRequests: TenantMigration = {
  name: '0230-deployment-requests',
  loses:
    'Which deployments wait for an administrator, and which were refused; those that were admitted may launch until their LtiRegistration changes.',
  up: () => `
      ALTER TABLE lti_tools ADD COLUMN deployment_policy varchar(20) NOT NULL DEFAULT 'Listed' CHECK (deployment_policy IN ('Listed', 'Confirm'));
      CREATE TABLE lti_deployment_requests (
        tool_id integer NOT NULL REFERENCES lti_tools (id) ON DELETE CASCADE,
        platform_id integer NOT NULL REFERENCES lti_platforms (id) ON DELETE CASCADE,
        deployment_id varchar(255) NOT NULL,
        status varchar(20) NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'admitted', 'refused')),
        launches bigint NOT NULL DEFAULT 0,
        first_seen_at timestamptz(3),
        last_seen_at timestamptz(3),
        decided_at timestamptz(3),
        PRIMARY KEY (tool_id, platform_id, deployment_id),
        CHECK ((status = 'waiting') = (decided_at IS NULL)),
        CHECK ((first_seen_at IS NULL) = (last_seen_at IS NULL))
      );
      CREATE INDEX lti_deployment_requests_platform_id_idx ON lti_deployment_requests (platform_id);
      CREATE TRIGGER audit_insert AFTER INSERT ON lti_deployment_requests FOR EACH ROW WHEN (NEW.status <> 'waiting')
        EXECUTE FUNCTION carrel.audit_lti_deployment_requests();
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_deployment_requests FOR EACH ROW WHEN (OLD.status <> NEW.status)
        EXECUTE FUNCTION carrel.audit_lti_deployment_requests();
    `,
  down: () => `
      DROP TABLE lti_deployment_requests;
      ALTER TABLE lti_tools DROP COLUMN deployment_policy;
    `,
};
