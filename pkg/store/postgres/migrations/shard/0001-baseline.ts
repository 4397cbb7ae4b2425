import type { Migration } from '../migration.ts';

/** Row-level security holds for the owner of the tables, the operator, too: a policy says what it may read. */
const secured = (table: string): string => `
      ALTER TABLE carrel.${table} ENABLE ROW LEVEL SECURITY;
      ALTER TABLE carrel.${table} FORCE ROW LEVEL SECURITY;
      CREATE POLICY ${table}_of_operator ON carrel.${table} TO CURRENT_USER USING (true) WITH CHECK (true);`;

const ofWorker = (table: string): string =>
  `CREATE POLICY ${table}_of_worker ON carrel.${table} TO carrel_worker USING (true) WITH CHECK (true);`;

/** A tenant reads, adds and changes its own rows. */
const ofTenant = (table: string): string =>
  `CREATE POLICY ${table}_of_tenant ON carrel.${table} TO carrel_tenant USING (tenant = current_user)
   WITH CHECK (tenant = current_user);`;

/** A tenant reads and adds its own rows. */
const addedByTenant = (table: string): string => `
      CREATE POLICY ${table}_of_tenant ON carrel.${table} FOR SELECT TO carrel_tenant USING (tenant = current_user);
      CREATE POLICY ${table}_by_tenant ON carrel.${table} FOR INSERT TO carrel_tenant WITH CHECK (tenant = current_user);`;

/**
 * The span that made an event or a job (W3C traceparent), so that the worker goes on with its trace. Null where traces are off or
 * that one is not sampled. A statement that does not give it gets that of the transaction's origin
 * (pkg/store/postgres/origin.ts).
 */
const TRACEPARENT = `traceparent varchar(55) DEFAULT nullif(current_setting('carrel.origin', true), '')::json ->> 'trace'`;

/**
 * `tenants`: what provisioning made here, and the limits of each tenant; null: any number. `outbox_full`: it may write no event
 * until some are deleted.
 */
const TENANTS = `
      CREATE TABLE carrel.tenants (
        role name PRIMARY KEY,
        tenant_id bigint NOT NULL,
        fingerprint varchar(64),
        schema_version varchar(255),
        storage_limit bigint CHECK (storage_limit >= 0),
        files_limit bigint CHECK (files_limit >= 0),
        events_limit bigint NOT NULL DEFAULT 1000000 CHECK (events_limit > 0),
        outbox_full boolean NOT NULL DEFAULT false
      );
      COMMENT ON TABLE carrel.tenants IS 'What provisioning made here: the row is also its lock';

      -- docs/design/lists.md, Names. A text compares equal to itself alone, so the collation orders and never merges.
      CREATE COLLATION carrel.names (provider = icu, locale = 'und-u-kn-true', deterministic = true);
      COMMENT ON COLLATION carrel.names
        IS 'The order of names that people expect: file2 before file10, case and accents as later differences';
`;

/**
 * Jobs. Those that wait for other parties' servers have a queue of their own, so that they never delay jobs that need only our
 * own stores. The index begins with the queue, because each dispatcher reads one queue. A row beyond the bounds would make
 * leasing fail for all tenants; they are far above what Carrel writes.
 */
const WORK = `
      CREATE TABLE carrel.work (
        tenant name NOT NULL DEFAULT current_user,
        id bigint GENERATED ALWAYS AS IDENTITY,
        kind varchar(100) NOT NULL,
        payload jsonb NOT NULL CONSTRAINT work_payload_bound CHECK (octet_length(payload::text) <= 1024 * 1024),
        requested_at timestamptz(3) NOT NULL DEFAULT now(),
        due_at timestamptz(3) NOT NULL DEFAULT now() CONSTRAINT work_due_at_bound CHECK (due_at > '-infinity'),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        leased_until timestamptz(3),
        fence uuid,
        last_error varchar(1000),
        queue varchar(30) NOT NULL DEFAULT 'work',
        ${TRACEPARENT},
        PRIMARY KEY (tenant, id)
      );
      CREATE INDEX work_due_idx ON carrel.work (queue, tenant, due_at, id);
      CREATE TRIGGER bound AFTER INSERT ON carrel.work FOR EACH STATEMENT EXECUTE FUNCTION carrel.bound_work();
      ${secured('work')}
      ${addedByTenant('work')}
      ${ofWorker('work')}
      GRANT SELECT, INSERT (kind, payload, due_at, queue, traceparent) ON carrel.work TO carrel_tenant;
      GRANT SELECT, UPDATE, DELETE ON carrel.work TO carrel_worker;
`;

/**
 * The outbox of events and their deliveries (docs/design/events-and-jobs.md). A tenant inserts and reads its own rows; only the
 * worker changes deliveries. `due_at` of a delivery is null once it has ended. `attempts` counts leases; `log` has the requests
 * that were sent: `[{ at, status_code, error }]`.
 *
 * - A page of deliveries keeps half of its space for new versions of its rows, so that leasing one, which changes no indexed
 *   column, is a heap-only update: no entry in six indexes, and half of the CPU time of a lease.
 * - A delivery that ends leaves an entry in each index, and whoever looks for due ones passes it by until a vacuum. By default
 *   that waits for a fifth of the table, which is days where there are many millions.
 * - deliveries_due_of_endpoint_idx: those of a webhook that does not answer are passed by, however many they are.
 *   deliveries_due_of_tenant_idx, for whoever looks for tenants, means the same rows in other words: with the same words, the
 *   planner took it for a webhook's rows too, and sorted the backlog of the whole tenant for each of its webhooks.
 * - The sample indexes: carrel.outbox_exceeds.
 */
const EVENTS = `
      CREATE TABLE carrel.events (
        tenant name NOT NULL DEFAULT current_user,
        id bigint GENERATED ALWAYS AS IDENTITY,
        uuid uuid NOT NULL,
        event varchar(50) NOT NULL,
        payload text NOT NULL CONSTRAINT events_payload_bound CHECK (octet_length(payload) <= 256 * 1024),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        ${TRACEPARENT},
        PRIMARY KEY (tenant, id)
      ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
      COMMENT ON COLUMN carrel.events.payload IS 'The exact bytes that are signed and sent';
      CREATE INDEX events_created_at_idx ON carrel.events (created_at);
      CREATE INDEX events_sample_idx ON carrel.events (tenant) WHERE id % 1000 = 0;

      CREATE TABLE carrel.deliveries (
        tenant name NOT NULL DEFAULT current_user,
        id bigint GENERATED ALWAYS AS IDENTITY,
        uuid uuid NOT NULL DEFAULT gen_random_uuid(),
        event_id bigint NOT NULL,
        endpoint uuid NOT NULL,
        state varchar(20) NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed', 'canceled')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        ended_at timestamptz(3),
        due_at timestamptz(3) DEFAULT now() CONSTRAINT deliveries_due_at_bound CHECK (due_at > '-infinity'),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        leased_until timestamptz(3),
        fence uuid,
        log jsonb NOT NULL DEFAULT '[]',
        PRIMARY KEY (tenant, id),
        CONSTRAINT deliveries_uuid_key UNIQUE (tenant, uuid),
        CONSTRAINT deliveries_event_fkey FOREIGN KEY (tenant, event_id) REFERENCES carrel.events (tenant, id) ON DELETE CASCADE,
        CHECK ((due_at IS NULL) = (state <> 'pending'))
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
      CREATE INDEX deliveries_due_of_tenant_idx ON carrel.deliveries (tenant, due_at, id) WHERE state = 'pending';
      CREATE INDEX deliveries_due_of_endpoint_idx ON carrel.deliveries (tenant, endpoint, due_at, id) WHERE due_at IS NOT NULL;
      CREATE INDEX deliveries_event_idx ON carrel.deliveries (tenant, event_id);
      CREATE INDEX deliveries_endpoint_idx ON carrel.deliveries (tenant, endpoint, created_at, id);
      -- They are few among very many.
      CREATE INDEX deliveries_unarrived_idx ON carrel.deliveries (tenant, endpoint, created_at, id) WHERE state <> 'delivered';
      CREATE INDEX deliveries_sample_idx ON carrel.deliveries (tenant) WHERE id % 1000 = 0;

      ${['events', 'deliveries']
        .map(
          (table) => `
      CREATE TRIGGER bound AFTER INSERT ON carrel.${table} REFERENCING NEW TABLE AS added FOR EACH STATEMENT
      EXECUTE FUNCTION carrel.bound_outbox();
      ${secured(table)}
      ${addedByTenant(table)}
      ${ofWorker(table)}`,
        )
        .join('')}
      GRANT SELECT, INSERT (uuid, event, payload, traceparent) ON carrel.events TO carrel_tenant;
      GRANT SELECT, INSERT (event_id, endpoint) ON carrel.deliveries TO carrel_tenant;
      GRANT SELECT, DELETE ON carrel.events TO carrel_worker;
      GRANT SELECT, UPDATE, DELETE ON carrel.deliveries TO carrel_worker;
`;

/**
 * `webhook_health`: webhooks of Kubernetes resources whose health changed; the operator deletes the rows that it has read. The
 * worker inserts them in the transaction that changes the webhook, so the operator queries each shard once and no tenant's
 * schema.
 *
 * `delivery_statistics`: what each webhook was sent in each hour (UTC): attempts, those that failed, and how long the receiver
 * took, as counts by bucket (pkg/webhooks/statistics). The worker adds to the row in the statement that writes outcomes, so
 * nobody counts deliveries.
 */
const WEBHOOKS = `
      CREATE TABLE carrel.webhook_health (
        tenant name NOT NULL,
        endpoint uuid NOT NULL,
        managed_ref varchar(320) NOT NULL,
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, endpoint)
      );
      ${secured('webhook_health')}
      ${ofWorker('webhook_health')}
      GRANT SELECT, INSERT, UPDATE ON carrel.webhook_health TO carrel_worker;

      CREATE TABLE carrel.delivery_statistics (
        tenant name NOT NULL,
        endpoint uuid NOT NULL,
        hour timestamptz(3) NOT NULL,
        sent integer NOT NULL CHECK (sent >= 0),
        failed integer NOT NULL CHECK (failed BETWEEN 0 AND sent),
        latency integer[] NOT NULL,
        PRIMARY KEY (tenant, endpoint, hour)
      ) WITH (fillfactor = 50);
      CREATE INDEX delivery_statistics_hour_idx ON carrel.delivery_statistics (hour);
      ${secured('delivery_statistics')}
      CREATE POLICY delivery_statistics_of_tenant ON carrel.delivery_statistics FOR SELECT TO carrel_tenant
        USING (tenant = current_user);
      ${ofWorker('delivery_statistics')}
      GRANT SELECT ON carrel.delivery_statistics TO carrel_tenant;
      GRANT SELECT, INSERT, UPDATE, DELETE ON carrel.delivery_statistics TO carrel_worker;
`;

/**
 * Tables that a tenant writes and the operator reads. Slots and keys bound the rows, however many launches race and although
 * anybody can begin a login.
 *
 * - `unknown_deployments`: deployments of an LMS that launched and are missing from their registration, a Kubernetes resource
 *   (`managed_ref`). `unknown_values`: issuers, client ids and deployments that an LMS sent and that are none of the
 *   registration's.
 * - `integrity_faults`: what the last integrity check of a tenant found, a row for each kind of fault.
 * - `registration_requests`: registrations that LMSs made by Dynamic Registration, of which the operator is to make resources;
 *   it deletes them.
 * - `deployment_changes`: tenants whose waiting or admitted deployments have changed; the operator shows them in the status of
 *   the LtiRegistrations, deletes the row and reads the tenant's tables.
 */
const NOTES = `
      CREATE TABLE carrel.unknown_deployments (
        tenant name NOT NULL DEFAULT current_user,
        managed_ref varchar(320) NOT NULL,
        slot integer NOT NULL CHECK (slot BETWEEN 0 AND 19),
        deployment_id varchar(255) NOT NULL,
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        reported_at timestamptz(3),
        PRIMARY KEY (tenant, managed_ref, slot)
      );
      GRANT SELECT, INSERT (managed_ref, slot, deployment_id),
        UPDATE (deployment_id, noted_at) ON carrel.unknown_deployments TO carrel_tenant;

      CREATE TABLE carrel.unknown_values (
        tenant name NOT NULL DEFAULT current_user,
        managed_ref varchar(320) NOT NULL,
        field varchar(20) NOT NULL CHECK (field IN ('iss', 'client_id', 'lti_deployment_id')),
        slot integer NOT NULL CHECK (slot BETWEEN 0 AND 4),
        value varchar(255) NOT NULL,
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        reported_at timestamptz(3),
        PRIMARY KEY (tenant, managed_ref, field, slot)
      );
      GRANT SELECT, INSERT (managed_ref, field, slot, value), UPDATE (value, noted_at) ON carrel.unknown_values TO carrel_tenant;

      CREATE TABLE carrel.integrity_faults (
        tenant name NOT NULL DEFAULT current_user,
        kind varchar(30) NOT NULL
          CHECK (kind IN ('missing_object', 'wrong_size', 'wrong_checksum', 'unowned_object', 'wrong_usage', 'foreign_object')),
        found bigint NOT NULL CHECK (found >= 0),
        repaired bigint NOT NULL CHECK (repaired BETWEEN 0 AND found),
        noted_at timestamptz(3) NOT NULL DEFAULT now(),
        reported_at timestamptz(3),
        PRIMARY KEY (tenant, kind)
      );
      GRANT SELECT, INSERT (kind, found, repaired), UPDATE (found, repaired, noted_at) ON carrel.integrity_faults
        TO carrel_tenant;

      CREATE TABLE carrel.registration_requests (
        tenant name NOT NULL DEFAULT current_user,
        slot integer NOT NULL CHECK (slot BETWEEN 0 AND 19),
        id uuid NOT NULL,
        wanted jsonb NOT NULL CHECK (octet_length(wanted::text) <= 16384),
        requested_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, slot)
      );
      GRANT SELECT, INSERT (slot, id, wanted) ON carrel.registration_requests TO carrel_tenant;
      CREATE TRIGGER registration_requests_notify AFTER INSERT ON carrel.registration_requests
        FOR EACH ROW EXECUTE FUNCTION carrel.notify_operator();

      CREATE TABLE carrel.deployment_changes (
        tenant name PRIMARY KEY DEFAULT current_user,
        changed_at timestamptz(3) NOT NULL DEFAULT now()
      );
      GRANT SELECT, INSERT (changed_at), UPDATE (changed_at) ON carrel.deployment_changes TO carrel_tenant;
      CREATE TRIGGER deployment_changes_notify AFTER INSERT OR UPDATE ON carrel.deployment_changes
        FOR EACH ROW EXECUTE FUNCTION carrel.notify_operator();

      ${['unknown_deployments', 'unknown_values']
        .map(
          (table) =>
            `CREATE TRIGGER bound AFTER INSERT ON carrel.${table} FOR EACH STATEMENT EXECUTE FUNCTION carrel.bound_notes();`,
        )
        .join('\n      ')}
      ${['unknown_deployments', 'unknown_values', 'integrity_faults', 'registration_requests', 'deployment_changes']
        .map((table) => `${secured(table)}\n      ${ofTenant(table)}`)
        .join('\n      ')}
`;

/** The objects that all tenants of a shard share, beside the functions (pkg/store/postgres/functions). */
export const baseline: Migration<object> = {
  name: '0001-baseline',
  loses:
    'All that tenants share: jobs that have not run, events, deliveries and their statistics, notes for the operator, limits.',
  up: () => [TENANTS, WORK, EVENTS, WEBHOOKS, NOTES, 'REVOKE ALL ON ALL TABLES IN SCHEMA carrel FROM PUBLIC;'].join('\n'),
  down: () => `
      DROP TABLE carrel.deployment_changes, carrel.registration_requests, carrel.integrity_faults, carrel.unknown_values,
        carrel.unknown_deployments, carrel.delivery_statistics, carrel.webhook_health, carrel.deliveries,
          carrel.events, carrel.work,
        carrel.tenants;
      DROP COLLATION carrel.names;
    `,
};
