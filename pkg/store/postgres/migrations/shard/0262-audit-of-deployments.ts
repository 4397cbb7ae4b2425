import type { Migration } from '../migration.ts';

const COLUMNS = ['client_id', 'tool_url', 'scope', 'is_active', 'key_id'];
/** By the names that entries have for them. A tenant that is not migrated yet lacks the columns, and its entries the fields. */
const LATER = { deployment_policy: 'deployment_policy', deployment_ids: 'listed_deployments' };

const toolOf = (row: 'OLD' | 'NEW', later: Readonly<Record<string, string>>): string =>
  `jsonb_build_object(${[
    ...COLUMNS.map((column) => `'${column}', ${row}.${column}`),
    ...Object.entries(later).map(([name, column]) => `'${name}', to_jsonb(${row}) -> '${column}'`),
    `'issuer', (SELECT p.issuer FROM lti_platforms p WHERE p.id = ${row}.platform_id)`,
  ].join(', ')})`;

const auditOfTools = (later: Readonly<Record<string, string>>): string => `
      CREATE OR REPLACE FUNCTION carrel.audit_lti_tools() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        CASE TG_OP
          WHEN 'INSERT' THEN PERFORM write_audit('registration.create', 'registration', NULL, NEW.client_id, audit_changes('{}', ${toolOf('NEW', later)}));
          WHEN 'UPDATE' THEN PERFORM write_audit('registration.update', 'registration', NULL, NEW.client_id,
            audit_changes(${toolOf('OLD', later)}, ${toolOf('NEW', later)}));
          ELSE PERFORM write_audit('registration.delete', 'registration', NULL, OLD.client_id, '{}');
        END CASE;
        RETURN NULL;
      END $$;
    `;

/**
 * The entries of registrations have the deployments that they list, and what becomes of others (migration 0261 of the tenants).
 */
export const auditOfDeployments: Migration<object> = {
  name: '0262-audit-of-deployments',
  up: () => auditOfTools(LATER),
  down: () => auditOfTools({}),
};
