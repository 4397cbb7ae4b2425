import { AS_OWNER, BY_INDEX, offer } from './function.ts';

/**
 * One id of so many is in the sample, and only the statement that writes it checks the limit: to count all rows at each event
 * costs too much.
 */
const SAMPLE = 1_000;
/** Up to so many events they are counted, since of fewer the sample says too little. */
const COUNTED = 20_000;
/** Deliveries of one tenant, for each event that it may have: it may have several webhooks. */
const DELIVERIES_EACH = 10;
/** Bytes of payloads, for each event that it may have. */
const BYTES_EACH = 2_048;
/** Ended events that one call deletes. */
const TRIMMED_AT_ONCE = 10_000;
/** Pages of each table that one look reads: a smaller table is read whole. */
const PAGES = 1_000;
/** A sample is trusted with so many times what a tenant may have: by then it has more for certain. */
const SUSPECT = 1.5;
/** The time that one call may count. */
const SECONDS = 5;

const shareOf = (table: string): string =>
  `least(100, 100.0 * ${PAGES} * current_setting('block_size')::int / greatest(1, pg_relation_size('carrel.${table}')))`;
const beyond = (most: string): string =>
  `(s.events > ${most} OR s.bytes > ${most} * ${BYTES_EACH} OR s.deliveries > ${most} * ${DELIVERIES_EACH})`;

/**
 * bound_outbox: where a tenant has more than carrel.tenants.events_limit events, more than so many bytes of payloads or more than
 * so many deliveries, `outbox_full` is set by the statement that finds it, and from then on whatever would write an event is
 * refused. A tenant may exceed the limit by what it writes between two samples. It runs as its owner, since carrel.tenants is the
 * operator's. SQLSTATE CL003: it may be tried again.
 *
 * outbox_exceeds decides by the events and deliveries whose id is a multiple of 1,000, by an index of these alone. Counting a
 * million rows, one in each page of a large table, took longer than a statement may: the request that wrote the 1,000th event
 * failed, and the outbox was never marked as full. Of 1,000,000 events the sample knows to within a tenth.
 */
const BOUND = `
  -- Whether more than this share of what the tenant may have is there.
  CREATE OR REPLACE FUNCTION carrel.outbox_exceeds(share numeric, who name) RETURNS boolean
  LANGUAGE plpgsql SET search_path = '' AS $$
  DECLARE
    most bigint;
    found record;
  BEGIN
    SELECT ceil(t.events_limit * share) INTO most FROM carrel.tenants t WHERE t.role = who;
    IF most > ${COUNTED} THEN
      SELECT count(*) * ${SAMPLE} AS events, coalesce(sum(octet_length(e.payload)), 0) * ${SAMPLE} AS bytes INTO found
        FROM carrel.events e WHERE e.tenant = who AND e.id % ${SAMPLE} = 0;
      RETURN found.events > most OR found.bytes > most * ${BYTES_EACH}
        OR (SELECT count(*) * ${SAMPLE} FROM carrel.deliveries d WHERE d.tenant = who AND d.id % ${SAMPLE} = 0) > most
          * ${DELIVERIES_EACH};
    END IF;
    SELECT count(*) AS events, coalesce(sum(octet_length(e.payload)), 0) AS bytes INTO found
      FROM (SELECT v.payload FROM carrel.events v WHERE v.tenant = who LIMIT most + 1) e;
    IF found.events > most OR found.bytes > most * ${BYTES_EACH} THEN
      RETURN true;
    END IF;
    RETURN (SELECT count(*) FROM (SELECT FROM carrel.deliveries d WHERE d.tenant = who LIMIT most * ${DELIVERIES_EACH} + 1) d)
      > most * ${DELIVERIES_EACH};
  END $$;

  CREATE OR REPLACE FUNCTION carrel.bound_outbox() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
  DECLARE
    who name := carrel.role_of_caller();
  BEGIN
    -- Most statements write none, since no webhook wants them; and the operator moves and restores what is there.
    IF NOT EXISTS (SELECT FROM added a WHERE a.tenant = who) THEN
      RETURN NULL;
    END IF;
    IF (SELECT t.outbox_full FROM carrel.tenants t WHERE t.role = who) THEN
      RAISE EXCEPTION 'Too many events of this institution wait to be sent to its webhooks. Try again later.'
        USING ERRCODE = 'CL003';
    END IF;
    IF EXISTS (SELECT FROM added a WHERE a.id % ${SAMPLE} = 0) AND carrel.outbox_exceeds(1, who) THEN
      UPDATE carrel.tenants t SET outbox_full = true WHERE t.role = who;
    END IF;
    RETURN NULL;
  END $$;
`;

/**
 * The worker finds full outboxes by itself, whenever it trims. What a statement of a tenant finds depends on ids, which the
 * tenant sees before it commits: it may take back each statement that would look, and its rows are in no sample of ids. Pages are
 * chosen by chance, in the worker's connection, and no tenant can undo what another connection has written.
 *
 * A suspect by the sample is counted, to the row, for as long as there is time. trim_outbox, which the worker calls, deletes the
 * oldest events that have no delivery under way until half of them are left, and lifts `outbox_full` by the same two.
 */
const TRIM = `
  -- Of each tenant that the sample has, by a whole table where it is small.
  CREATE OR REPLACE FUNCTION carrel.sampled_outboxes()
  RETURNS TABLE (tenant name, events numeric, bytes numeric, deliveries numeric)
    LANGUAGE plpgsql SET search_path = '' AS $$
  DECLARE
    of_events numeric := ${shareOf('events')};
    of_deliveries numeric := ${shareOf('deliveries')};
  BEGIN
    RETURN QUERY
      SELECT n.tenant, sum(n.events), sum(n.bytes), sum(n.deliveries) FROM (
        SELECT e.tenant, count(*) * 100 / of_events AS events, sum(octet_length(e.payload)) * 100 / of_events AS bytes,
          0 AS deliveries
          FROM carrel.events e TABLESAMPLE SYSTEM (of_events) GROUP BY e.tenant
        UNION ALL
        SELECT d.tenant, 0, 0, count(*) * 100 / of_deliveries FROM carrel.deliveries d TABLESAMPLE SYSTEM (of_deliveries)
        GROUP BY d.tenant
      ) n GROUP BY n.tenant;
  END $$;

  -- Whether there is more than for so many events; null: it is not known when the time is over.
  CREATE OR REPLACE FUNCTION carrel.outbox_counted(who name, most numeric, until timestamptz) RETURNS boolean
    LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
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
  CREATE OR REPLACE FUNCTION carrel.outbox_remains(who name, most numeric, until timestamptz) RETURNS boolean
  LANGUAGE plpgsql SET search_path = '' AS $$
  BEGIN
    IF most > ${COUNTED} AND EXISTS (SELECT FROM carrel.sampled_outboxes() s WHERE s.tenant = who AND ${beyond('most')}) THEN
      RETURN true;
    END IF;
    RETURN coalesce(carrel.outbox_counted(who, most, until), false);
  END $$;

  -- Of each tenant whose outbox is full: how many events were deleted. None: what is there is under way.
  CREATE OR REPLACE FUNCTION carrel.trim_outbox() RETURNS TABLE (tenant name, deleted bigint)
  LANGUAGE plpgsql ${AS_OWNER} SET search_path = '' AS $$
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
    FOR tenant IN SELECT t.role FROM carrel.tenants t WHERE t.outbox_full ORDER BY t.role LOOP
      DELETE FROM carrel.events e WHERE e.tenant = trim_outbox.tenant AND e.id IN (
        SELECT v.id FROM carrel.events v WHERE v.tenant = trim_outbox.tenant AND NOT EXISTS (
          SELECT FROM carrel.deliveries d WHERE d.tenant = v.tenant AND d.event_id = v.id AND d.due_at IS NOT NULL)
        ORDER BY v.id LIMIT ${TRIMMED_AT_ONCE});
      GET DIAGNOSTICS deleted = ROW_COUNT;
      UPDATE carrel.tenants t SET outbox_full = false WHERE t.role = trim_outbox.tenant
        AND NOT carrel.outbox_remains(t.role, ceil(t.events_limit * CASE WHEN deleted < ${TRIMMED_AT_ONCE} THEN 1 ELSE 0.5 END),
          until);
      RETURN NEXT;
    END LOOP;
  END $$;
  ${offer('carrel_worker', 'trim_outbox')}
`;

/** Bounds of the events and deliveries of one tenant (docs/design/events-and-jobs.md). */
export const outboxFunctions = [BOUND, TRIM].join('\n');
