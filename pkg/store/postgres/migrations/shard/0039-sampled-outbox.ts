import type { Migration } from '../migration.ts';

/** Of so many ids one is in the sample, and the statement that writes it looks (0027). */
const SAMPLE = 1_000;
/** Up to so many events they are counted, since of fewer the sample says too little. */
const COUNTED = 20_000;
/** As in 0027. */
const DELIVERIES_EACH = 10;
const BYTES_EACH = 2_048;

const exact = `
        SELECT count(*) AS events, coalesce(sum(octet_length(e.payload)), 0) AS bytes INTO found
          FROM (SELECT v.payload FROM carrel.events v WHERE v.tenant = who LIMIT most + 1) e;
        IF found.events > most OR found.bytes > most * ${BYTES_EACH} THEN
          RETURN true;
        END IF;
        RETURN (SELECT count(*) FROM (SELECT FROM carrel.deliveries d WHERE d.tenant = who LIMIT most * ${DELIVERIES_EACH} + 1) d) > most * ${DELIVERIES_EACH};`;

const define = (body: string): string => `
      CREATE OR REPLACE FUNCTION carrel.outbox_exceeds(share numeric, who name) RETURNS boolean LANGUAGE plpgsql SET search_path = '' AS $$
      DECLARE
        most bigint;
        found record;
      BEGIN
        SELECT ceil(t.events_limit * share) INTO most FROM carrel.tenants t WHERE t.role = who;${body}
      END $$;`;

/**
 * Whether an outbox is full is decided by its events and deliveries whose id is a multiple of 1,000, by an index of these alone.
 * Counting a million rows, one in each page of a large table, took longer than a statement may: the request that wrote the
 * 1,000th event failed, and the outbox was never marked as full. A tenant cannot choose ids. Of 1,000,000 events the sample knows
 * to within a tenth.
 */
export const sampledOutbox: Migration<object> = {
  name: '0039-sampled-outbox',
  up: () => `
      CREATE INDEX IF NOT EXISTS deliveries_sample_idx ON carrel.deliveries (tenant) WHERE id % ${SAMPLE} = 0;
      ${define(`
        IF most > ${COUNTED} THEN
          SELECT count(*) * ${SAMPLE} AS events, coalesce(sum(octet_length(e.payload)), 0) * ${SAMPLE} AS bytes INTO found
            FROM carrel.events e WHERE e.tenant = who AND e.id % ${SAMPLE} = 0;
          RETURN found.events > most OR found.bytes > most * ${BYTES_EACH}
            OR (SELECT count(*) * ${SAMPLE} FROM carrel.deliveries d WHERE d.tenant = who AND d.id % ${SAMPLE} = 0) > most * ${DELIVERIES_EACH};
        END IF;${exact}`)}
    `,
  down: () => `
      ${define(exact)}
      DROP INDEX carrel.deliveries_sample_idx;
    `,
};
