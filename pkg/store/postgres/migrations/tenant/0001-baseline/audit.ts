import { quoteIdentifier } from '../../../quoting.ts';
import type { TenantContext } from '../migration.ts';

/** The audit log (docs/design/records.md). Triggers write it, with the rights of the operator: the tenant's role reads it. */
export const auditLog = ({ role }: TenantContext): string => `
      CREATE TABLE audit_entries (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL DEFAULT gen_random_uuid(),
        at timestamptz(3) NOT NULL DEFAULT now(),
        actor_id uuid,
        actor_name text,
        is_system boolean NOT NULL,
        action varchar(40) NOT NULL,
        target_type varchar(20) NOT NULL,
        target_id uuid,
        target_name text,
        ip varchar(64),
        request_id varchar(255),
        changes jsonb NOT NULL
      );
      CREATE INDEX audit_entries_at_idx ON audit_entries (at, id);
      CREATE INDEX audit_entries_target_id_idx ON audit_entries (target_id, at, id);
      CREATE INDEX audit_entries_actor_id_idx ON audit_entries (actor_id, at, id);
      CREATE INDEX audit_entries_action_idx ON audit_entries (action, at, id);
      REVOKE ALL ON audit_entries FROM ${quoteIdentifier(role)};
      GRANT SELECT ON audit_entries TO ${quoteIdentifier(role)};
`;
