import { quoteIdentifier } from '../../../quoting.ts';
import type { TenantContext } from '../migration.ts';

/** Only a change of these makes a new revision; the worker's notes about deliveries do not. */
const settings = (row: 'OLD' | 'NEW'): string =>
  ['url', 'events', 'secret', 'previous_secret_until', 'headers', 'active', 'description', 'managed_by', 'managed_ref']
    .map((column) => `${row}.${column}`)
    .join(', ');

/**
 * docs/design/records.md, Webhook; docs/design/api-conventions.md, Requests and replies. Sealed values of a webhook are bounded,
 * since workers open them beside other tenants' secrets: 20 headers of 1,024 characters seal to 58 KB.
 *
 * helpers: the tenant's helper services as `spec.helpers` of its resource has them; `token` is sealed. The operator writes them,
 * the tenant's role reads them.
 */
export const webhooks = ({ role }: TenantContext): string => `
      CREATE TABLE webhooks (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        uuid uuid NOT NULL CONSTRAINT webhooks_uuid_key UNIQUE,
        url varchar(2048) NOT NULL,
        events text[] NOT NULL CHECK (cardinality(events) > 0),
        secret text NOT NULL,
        previous_secret text,
        previous_secret_until timestamptz(3),
        headers text,
        active boolean NOT NULL DEFAULT true,
        managed_by varchar(50),
        managed_ref varchar(320) CONSTRAINT webhooks_managed_ref_key UNIQUE,
        created_by bigint REFERENCES users (id) ON DELETE SET NULL,
        failing_since timestamptz(3),
        disabled_reason varchar(500),
        last_delivery_at timestamptz(3),
        last_status_code integer,
        revision bigint NOT NULL DEFAULT 1,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        description varchar(500),
        CONSTRAINT webhooks_sealed_bound
          CHECK (greatest(octet_length(secret), octet_length(previous_secret), octet_length(headers)) <= 64 * 1024)
      );
      CREATE INDEX webhooks_created_by_idx ON webhooks (created_by);
      CREATE TRIGGER touch BEFORE UPDATE ON webhooks FOR EACH ROW
      WHEN ((${settings('OLD')}) IS DISTINCT FROM (${settings('NEW')}))
        EXECUTE FUNCTION carrel.touch();
      CREATE TRIGGER audit_insert AFTER INSERT ON webhooks FOR EACH ROW EXECUTE FUNCTION carrel.audit_webhooks();
      CREATE TRIGGER audit_update AFTER UPDATE ON webhooks FOR EACH ROW
        WHEN ((OLD.url, OLD.events, OLD.active, OLD.description, OLD.secret, OLD.headers)
          IS DISTINCT FROM (NEW.url, NEW.events, NEW.active, NEW.description, NEW.secret, NEW.headers))
        EXECUTE FUNCTION carrel.audit_webhooks();
      CREATE TRIGGER audit_delete AFTER DELETE ON webhooks FOR EACH ROW EXECUTE FUNCTION carrel.audit_webhooks();

      CREATE TABLE idempotency_keys (
        user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        key varchar(255) NOT NULL,
        fingerprint varchar(64) NOT NULL,
        locked_until timestamptz(3) NOT NULL,
        status_code integer,
        headers jsonb,
        body text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        PRIMARY KEY (user_id, key)
      );
      CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);

      CREATE TABLE helpers (
        kind varchar(20) PRIMARY KEY CHECK (kind IN ('translate', 'pdf_optimize', 'pdf_translate')),
        url varchar(500) NOT NULL,
        token text
      );
      REVOKE ALL ON helpers FROM ${quoteIdentifier(role)};
      GRANT SELECT ON helpers TO ${quoteIdentifier(role)};
`;
