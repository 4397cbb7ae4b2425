import type { TenantMigration } from './migration.ts';

const AUDITED = ['client_id', 'tool_url', 'scope', 'is_active', 'key_id', 'platform_id'];

const auditOn = (columns: readonly string[]): string => {
  const of = (row: 'OLD' | 'NEW'): string => columns.map((column) => `${row}.${column}`).join(', ');
  return `
      DROP TRIGGER audit_update ON lti_tools;
      CREATE TRIGGER audit_update AFTER UPDATE ON lti_tools FOR EACH ROW WHEN ((${of('OLD')}) IS DISTINCT FROM (${of('NEW')}))
        EXECUTE FUNCTION carrel.audit_lti_tools();`;
};

/**
 * Which deployments the resource of a registration lists, beside `lti_deployments`, which has all that may launch: a change of
 * the list, as one of
 * `deployment_policy`, is an entry of the audit log (shard migration 0262). To fill the column changes no registration: its
 * revision stays.
 */
export const listedDeployments: TenantMigration = {
  name: '0261-listed-deployments',
  up: () => `
      ALTER TABLE lti_tools ADD COLUMN listed_deployments text[] NOT NULL DEFAULT '{}';
      ALTER TABLE lti_tools DISABLE TRIGGER touch;
      UPDATE lti_tools t SET listed_deployments = l.ids FROM (
        SELECT d.tool_id, d.platform_id, array_agg(d.deployment_id::text ORDER BY d.deployment_id COLLATE "C") AS ids FROM lti_deployments d
        WHERE NOT EXISTS (SELECT FROM lti_deployment_requests r
          WHERE (r.tool_id, r.platform_id, r.deployment_id) = (d.tool_id, d.platform_id, d.deployment_id))
        GROUP BY d.tool_id, d.platform_id) l
      WHERE l.tool_id = t.id AND l.platform_id = t.platform_id;
      ALTER TABLE lti_tools ENABLE TRIGGER touch;
      ${auditOn([...AUDITED, 'deployment_policy', 'listed_deployments'])}
    `,
  down: () => `
      ${auditOn(AUDITED)}
      ALTER TABLE lti_tools DROP COLUMN listed_deployments;
    `,
};
