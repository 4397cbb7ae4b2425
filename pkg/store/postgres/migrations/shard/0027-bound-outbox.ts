import type { Migration } from '../migration.ts';

/** A tenant's events are looked at where one of this many is written: counting them all costs too much for each. */
const SAMPLE = 1_000;
/** Deliveries of one tenant, for each event that it may have: it may have several webhooks. */
const DELIVERIES_EACH = 10;
/** Bytes of payloads, for each event that it may have. */
const BYTES_EACH = 2_048;
/** Ended events that one call deletes. */
const TRIMMED_AT_ONCE = 10_000;
/** Notes for the operator of one tenant, of each kind. */
const NOTES_MAX = 10_000;

const NOTES = ['unknown_deployments', 'unknown_values'] as const;

/**
 * Bounds of the rows that a tenant's role writes here beside jobs (0020).
 *
 * Outbox: where a tenant has more than carrel.tenants.events_limit events, more than so many bytes of payloads or more than so
 * many deliveries,
 * `outbox_full` is set by the statement that finds it, and from then on whatever would write an event is refused. trim_outbox,
 * which the worker calls, deletes the oldest events that have no delivery under way until half of them are left, and lifts it. A
 * tenant may exceed the limit by what it writes between two samples. Notes are counted each time. The functions run as their
 * owner, since carrel.tenants is the operator's.
 *
 * SQLSTATE CL003: it may be tried again.
 */
export const boundOutbox: Migration<object> = {
  name: '0027-bound-outbox',
  loses: 'Limits of events that were set by hand.',
  up: () => `
      ALTER TABLE carrel.tenants
        ADD COLUMN events_limit bigint NOT NULL DEFAULT 1000000 CHECK (events_limit > 0), ADD COLUMN outbox_full boolean NOT NULL DEFAULT false;

      -- Whether more than this share of what the tenant may have is there.
      CREATE FUNCTION carrel.outbox_exceeds(share numeric, who name) RETURNS boolean LANGUAGE plpgsql SET search_path = '' AS $$
      DECLARE
        most bigint;
        found record;
      BEGIN
        SELECT ceil(t.events_limit * share) INTO most FROM carrel.tenants t WHERE t.role = who;
        SELECT count(*) AS events, coalesce(sum(octet_length(e.payload)), 0) AS bytes INTO found
          FROM (SELECT v.payload FROM carrel.events v WHERE v.tenant = who LIMIT most + 1) e;
        IF found.events > most OR found.bytes > most * ${BYTES_EACH} THEN
          RETURN true;
        END IF;
        RETURN (SELECT count(*) FROM (SELECT FROM carrel.deliveries d WHERE d.tenant = who LIMIT most * ${DELIVERIES_EACH} + 1) d) > most * ${DELIVERIES_EACH};
      END $$;

      CREATE FUNCTION carrel.bound_outbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      DECLARE
        who name := carrel.role_of_caller();
      BEGIN
        -- Most statements write none, since no webhook wants them; and the operator moves and restores what is there.
        IF NOT EXISTS (SELECT FROM added a WHERE a.tenant = who) THEN
          RETURN NULL;
        END IF;
        IF (SELECT t.outbox_full FROM carrel.tenants t WHERE t.role = who) THEN
          RAISE EXCEPTION 'Too many events of this institution wait to be sent to its webhooks. Try again later.' USING ERRCODE = 'CL003';
        END IF;
        IF EXISTS (SELECT FROM added a WHERE a.id % ${SAMPLE} = 0) AND carrel.outbox_exceeds(1, who) THEN
          UPDATE carrel.tenants t SET outbox_full = true WHERE t.role = who;
        END IF;
        RETURN NULL;
      END $$;
      ${['events', 'deliveries']
        .map(
          (table) => `
      CREATE TRIGGER bound AFTER INSERT ON carrel.${table} REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION carrel.bound_outbox();`,
        )
        .join('')}

      -- Of each tenant whose outbox is full: how many events were deleted. None: what is there is under way.
      CREATE FUNCTION carrel.trim_outbox() RETURNS TABLE (tenant name, deleted bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
      BEGIN
        FOR tenant IN SELECT t.role FROM carrel.tenants t WHERE t.outbox_full ORDER BY t.role LOOP
          DELETE FROM carrel.events e WHERE e.tenant = trim_outbox.tenant AND e.id IN (
            SELECT v.id FROM carrel.events v WHERE v.tenant = trim_outbox.tenant AND NOT EXISTS (
              SELECT FROM carrel.deliveries d WHERE d.tenant = v.tenant AND d.event_id = v.id AND d.due_at IS NOT NULL)
            ORDER BY v.id LIMIT ${TRIMMED_AT_ONCE});
          GET DIAGNOSTICS deleted = ROW_COUNT;
          UPDATE carrel.tenants t SET outbox_full = false
            WHERE t.role = trim_outbox.tenant AND NOT carrel.outbox_exceeds(CASE WHEN deleted < ${TRIMMED_AT_ONCE} THEN 1 ELSE 0.5 END, t.role);
          RETURN NEXT;
        END LOOP;
      END $$;

      CREATE FUNCTION carrel.bound_notes() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
      DECLARE
        found bigint;
      BEGIN
        EXECUTE format('SELECT count(*) FROM (SELECT FROM carrel.%I n WHERE n.tenant = current_user LIMIT ${NOTES_MAX + 1}) n', TG_TABLE_NAME) INTO found;
        IF found > ${NOTES_MAX} THEN
          RAISE EXCEPTION 'More than ${NOTES_MAX} notes of this institution wait. Try again later.' USING ERRCODE = 'CL003';
        END IF;
        RETURN NULL;
      END $$;
      ${NOTES.map((table) => `CREATE TRIGGER bound AFTER INSERT ON carrel.${table} FOR EACH STATEMENT EXECUTE FUNCTION carrel.bound_notes();`).join('\n      ')}

      REVOKE ALL ON FUNCTION carrel.outbox_exceeds, carrel.bound_outbox, carrel.trim_outbox, carrel.bound_notes FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION carrel.trim_outbox TO carrel_worker;
    `,
  down: () => `
      ${['events', 'deliveries', ...NOTES].map((table) => `DROP TRIGGER bound ON carrel.${table};`).join(' ')}
      DROP FUNCTION carrel.bound_notes, carrel.trim_outbox, carrel.bound_outbox, carrel.outbox_exceeds;
      ALTER TABLE carrel.tenants DROP COLUMN events_limit, DROP COLUMN outbox_full;
    `,
};
