import { inSchema } from './function.ts';
import type { TenantMigration } from './migration.ts';

export const BOUND_GRANTS_THROUGH = `
        IF NEW.permission_level <> 'admin' THEN
          DELETE FROM permissions WHERE granted_through = NEW.id;
        ELSE
          UPDATE permissions SET expires_at = NEW.expires_at
            WHERE granted_through = NEW.id AND (expires_at IS NULL OR expires_at > NEW.expires_at);
        END IF;
`;

export const END_GRANTS_OF_MEMBER = `
        DELETE FROM permissions p USING permissions s
          WHERE s.id = p.granted_through AND s.group_id = OLD.group_id AND p.granted_by = OLD.user_id;
`;

/** They call a function of the schema. */
export const GRANT_TRIGGERS = `
      CREATE TRIGGER bound_grants_through AFTER UPDATE OF permission_level, expires_at ON permissions
        FOR EACH ROW WHEN (NEW.permission_level <> 'admin' OR NEW.expires_at IS NOT NULL) EXECUTE FUNCTION bound_grants_through();
      CREATE TRIGGER end_grants_of_member AFTER DELETE ON group_members FOR EACH ROW EXECUTE FUNCTION end_grants_of_member();`;

/**
 * A grant that a grantee gives depends on the grant that makes them admin (`granted_through`), and neither exceeds nor outlives
 * it. It is deleted when that grant is revoked or is no longer admin, and when the grantee leaves the group that has it; it is
 * shortened when that grant is shortened. These are triggers, so that every writer keeps the rule. Grants from before this
 * migration depend on none, as grants of owners do.
 */
export const grantsThrough: TenantMigration = {
  name: '0014-grants-through',
  loses: 'Which grant another one depends on: revoking the former no longer ends the latter.',
  up: () => `
      ALTER TABLE permissions ADD COLUMN granted_through bigint
        CONSTRAINT permissions_granted_through_fkey REFERENCES permissions (id) ON DELETE CASCADE;
      CREATE INDEX permissions_granted_through_idx ON permissions (granted_through) WHERE granted_through IS NOT NULL;

      ${inSchema('bound_grants_through', BOUND_GRANTS_THROUGH)}

      ${inSchema('end_grants_of_member', END_GRANTS_OF_MEMBER)}
      ${GRANT_TRIGGERS}
    `,
  down: () => `
      DROP TRIGGER end_grants_of_member ON group_members;
      DROP TRIGGER bound_grants_through ON permissions;
      DROP FUNCTION end_grants_of_member(), bound_grants_through();
      ALTER TABLE permissions DROP COLUMN granted_through;
    `,
};
