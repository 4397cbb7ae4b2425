import type { Migration } from '../migration.ts';

/** As in 0027. */
const DELIVERIES_EACH = 10;
const BYTES_EACH = 2_048;
const TRIMMED_AT_ONCE = 10_000;
/** As in 0039. */
const COUNTED = 20_000;
/** Pages of each table that one look reads: a smaller table is read whole. */
const PAGES = 1_000;
/** A sample is trusted with so many times what a tenant may have: by then it has more for certain. */
const SUSPECT = 1.5;
/** For counting, in one call. */
const SECONDS = 5;

const TRIM = 'carrel.trim_outbox() RETURNS TABLE (tenant name, deleted bigint) LANGUAGE plpgsql SECURITY DEFINER';

const DELETE_OLDEST = `
          DELETE FROM carrel.events e WHERE e.tenant = trim_outbox.tenant AND e.id IN (
            SELECT v.id FROM carrel.events v WHERE v.tenant = trim_outbox.tenant AND NOT EXISTS (
              SELECT FROM carrel.deliveries d WHERE d.tenant = v.tenant AND d.event_id = v.id AND d.due_at IS NOT NULL)
            ORDER BY v.id LIMIT ${TRIMMED_AT_ONCE});
          GET DIAGNOSTICS deleted = ROW_COUNT;`;

const shareOf = (table: string): string =>
  `least(100, 100.0 * ${PAGES} * current_setting('block_size')::int / greatest(1, pg_relation_size('carrel.${table}')))`;
const beyond = (most: string): string =>
  `(s.events > ${most} OR s.bytes > ${most} * ${BYTES_EACH} OR s.deliveries > ${most} * ${DELIVERIES_EACH})`;

/**
 * The worker finds full outboxes by itself, whenever it trims. What a statement of a tenant finds (0027) depends on ids, which
 * the tenant sees before it commits: it may take back each statement that would look, and its rows are in no sample of ids. Pages
 * are chosen by chance, in the worker's connection, and no tenant can undo what another connection has written.
 *
 * A suspect by the sample is counted, to the row, for as long as there is time. trim_outbox lifts `outbox_full` by the same two.
 */
export const foundOutboxes: Migration<object> = {
  name: '0041-found-outboxes',
  up: () => `
      -- Of each tenant that the sample has, by a whole table where it is small.
      CREATE FUNCTION carrel.sampled_outboxes() RETURNS TABLE (tenant name, events numeric, bytes numeric, deliveries numeric)
        LANGUAGE plpgsql SET search_path = '' AS $$
      DECLARE
        of_events numeric := ${shareOf('events')};
        of_deliveries numeric := ${shareOf('deliveries')};
      BEGIN
        RETURN QUERY
          SELECT n.tenant, sum(n.events), sum(n.bytes), sum(n.deliveries) FROM (
            SELECT e.tenant, count(*) * 100 / of_events AS events, sum(octet_length(e.payload)) * 100 / of_events AS bytes, 0 AS deliveries
              FROM carrel.events e TABLESAMPLE SYSTEM (of_events) GROUP BY e.tenant
            UNION ALL
            SELECT d.tenant, 0, 0, count(*) * 100 / of_deliveries FROM carrel.deliveries d TABLESAMPLE SYSTEM (of_deliveries) GROUP BY d.tenant
          ) n GROUP BY n.tenant;
      END $$;

      -- Whether there is more than for so many events; null: it is not known when the time is over.
      CREATE FUNCTION carrel.outbox_counted(who name, most numeric, until timestamptz) RETURNS boolean
        LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET search_path = '' AS $$
      DECLARE
        seen bigint := 0;
        together bigint := 0;
        each record;
      BEGIN
        FOR each IN SELECT octet_length(e.payload) AS bytes FROM carrel.events e WHERE e.tenant = who LOOP
          seen := seen + 1;
          together := together + each.bytes;
          IF seen > most OR together > most * ${BYTES_EACH} THEN
            RETURN true;
          ELSIF seen % 1000 = 0 AND clock_timestamp() > until THEN
            RETURN NULL;
          END IF;
        END LOOP;
        seen := 0;
        FOR each IN SELECT d.id FROM carrel.deliveries d WHERE d.tenant = who LOOP
          seen := seen + 1;
          IF seen > most * ${DELIVERIES_EACH} THEN
            RETURN true;
          ELSIF seen % 1000 = 0 AND clock_timestamp() > until THEN
            RETURN NULL;
          END IF;
        END LOOP;
        RETURN false;
      END $$;

      -- Of few events the sample says too little.
      CREATE FUNCTION carrel.outbox_remains(who name, most numeric, until timestamptz) RETURNS boolean LANGUAGE plpgsql SET search_path = '' AS $$
      BEGIN
        IF most > ${COUNTED} AND EXISTS (SELECT FROM carrel.sampled_outboxes() s WHERE s.tenant = who AND ${beyond('most')}) THEN
          RETURN true;
        END IF;
        RETURN coalesce(carrel.outbox_counted(who, most, until), false);
      END $$;

      -- Of each tenant whose outbox is full: how many events were deleted. None: what is there is under way.
      CREATE OR REPLACE FUNCTION ${TRIM} SET search_path = '' AS $$
      DECLARE
        until timestamptz := clock_timestamp() + interval '${SECONDS} s';
        suspect record;
      BEGIN
        FOR suspect IN
          SELECT t.role, t.events_limit FROM carrel.sampled_outboxes() s JOIN carrel.tenants t ON t.role = s.tenant
            WHERE NOT t.outbox_full AND ${beyond(`(t.events_limit * ${SUSPECT})`)} ORDER BY t.role
        LOOP
          IF coalesce(carrel.outbox_counted(suspect.role, suspect.events_limit, until), true) THEN
            UPDATE carrel.tenants t SET outbox_full = true WHERE t.role = suspect.role;
          END IF;
        END LOOP;
        FOR tenant IN SELECT t.role FROM carrel.tenants t WHERE t.outbox_full ORDER BY t.role LOOP${DELETE_OLDEST}
          UPDATE carrel.tenants t SET outbox_full = false WHERE t.role = trim_outbox.tenant
            AND NOT carrel.outbox_remains(t.role, ceil(t.events_limit * CASE WHEN deleted < ${TRIMMED_AT_ONCE} THEN 1 ELSE 0.5 END), until);
          RETURN NEXT;
        END LOOP;
      END $$;

      REVOKE ALL ON FUNCTION carrel.sampled_outboxes, carrel.outbox_counted, carrel.outbox_remains FROM PUBLIC;
    `,
  down: () => `
      CREATE OR REPLACE FUNCTION ${TRIM} SET search_path = '' AS $$
      BEGIN
        FOR tenant IN SELECT t.role FROM carrel.tenants t WHERE t.outbox_full ORDER BY t.role LOOP${DELETE_OLDEST}
          UPDATE carrel.tenants t SET outbox_full = false
            WHERE t.role = trim_outbox.tenant AND NOT carrel.outbox_exceeds(CASE WHEN deleted < ${TRIMMED_AT_ONCE} THEN 1 ELSE 0.5 END, t.role);
          RETURN NEXT;
        END LOOP;
      END $$;
      DROP FUNCTION carrel.outbox_remains, carrel.outbox_counted, carrel.sampled_outboxes;
    `,
};
