import type { TenantMigration } from './migration.ts';

/** docs/design/records.md, Webhook; docs/design/api-conventions.md, Requests and replies. */
export const webhooks: TenantMigration = {
  name: '0005-webhooks',
  loses: 'All webhooks, and the stored replies of requests with an Idempotency-Key.',
  up: () => `
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
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX webhooks_created_by_idx ON webhooks (created_by);
      -- The worker's notes about the receiver make no new revision.
      CREATE TRIGGER touch BEFORE UPDATE OF url, events, secret, headers, active, managed_by, managed_ref ON webhooks
        FOR EACH ROW EXECUTE FUNCTION carrel.touch();

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
    `,
  down: () => `
      DROP TABLE idempotency_keys;
      DROP TABLE webhooks;
    `,
};
