import type { Migration } from '../migration.ts';

/**
 * The outbox of events and their deliveries (docs/design/events-and-jobs.md). A tenant inserts and reads its own rows; only the
 * worker changes deliveries.
 * `due_at` of a delivery is null once it has ended. `attempts` counts leases; `log` has the requests that were sent: `[{ at,
 * status_code, error }]`.
 */
export const events: Migration<object> = {
  name: '0002-events',
  loses: 'Events and deliveries that have not arrived, and the log of those that have.',
  up: () => `
      CREATE TABLE carrel.events (
        tenant name NOT NULL DEFAULT current_user,
        id bigint GENERATED ALWAYS AS IDENTITY,
        uuid uuid NOT NULL,
        event varchar(50) NOT NULL,
        payload text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, id)
      );
      COMMENT ON COLUMN carrel.events.payload IS 'The exact bytes that are signed and sent';
      CREATE INDEX events_created_at_idx ON carrel.events (created_at);

      CREATE TABLE carrel.deliveries (
        tenant name NOT NULL DEFAULT current_user,
        id bigint GENERATED ALWAYS AS IDENTITY,
        uuid uuid NOT NULL DEFAULT gen_random_uuid(),
        event_id bigint NOT NULL,
        endpoint uuid NOT NULL,
        state varchar(20) NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'canceled')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        ended_at timestamptz(3),
        due_at timestamptz(3) DEFAULT now(),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        leased_until timestamptz(3),
        fence uuid,
        log jsonb NOT NULL DEFAULT '[]',
        PRIMARY KEY (tenant, id),
        CONSTRAINT deliveries_uuid_key UNIQUE (tenant, uuid),
        CONSTRAINT deliveries_event_fkey FOREIGN KEY (tenant, event_id) REFERENCES carrel.events (tenant, id) ON DELETE CASCADE,
        CHECK ((due_at IS NULL) = (state <> 'pending'))
      );
      CREATE INDEX deliveries_due_idx ON carrel.deliveries (tenant, due_at, id) WHERE due_at IS NOT NULL;
      CREATE INDEX deliveries_event_idx ON carrel.deliveries (tenant, event_id);
      CREATE INDEX deliveries_endpoint_idx ON carrel.deliveries (tenant, endpoint, id);

      ALTER TABLE carrel.events ENABLE ROW LEVEL SECURITY;
      CREATE POLICY events_of_tenant ON carrel.events FOR SELECT TO carrel_tenant USING (tenant = current_user);
      CREATE POLICY events_by_tenant ON carrel.events FOR INSERT TO carrel_tenant WITH CHECK (tenant = current_user);
      CREATE POLICY events_of_worker ON carrel.events TO carrel_worker USING (true) WITH CHECK (true);
      ALTER TABLE carrel.deliveries ENABLE ROW LEVEL SECURITY;
      CREATE POLICY deliveries_of_tenant ON carrel.deliveries FOR SELECT TO carrel_tenant USING (tenant = current_user);
      CREATE POLICY deliveries_by_tenant ON carrel.deliveries FOR INSERT TO carrel_tenant WITH CHECK (tenant = current_user);
      CREATE POLICY deliveries_of_worker ON carrel.deliveries TO carrel_worker USING (true) WITH CHECK (true);

      REVOKE ALL ON carrel.events, carrel.deliveries FROM PUBLIC;
      GRANT SELECT ON carrel.events, carrel.deliveries TO carrel_tenant;
      GRANT INSERT (uuid, event, payload) ON carrel.events TO carrel_tenant;
      GRANT INSERT (event_id, endpoint) ON carrel.deliveries TO carrel_tenant;
      GRANT SELECT, DELETE ON carrel.events TO carrel_worker;
      GRANT SELECT, UPDATE, DELETE ON carrel.deliveries TO carrel_worker;
    `,
  down: () => `
      DROP TABLE carrel.deliveries;
      DROP TABLE carrel.events;
    `,
};
