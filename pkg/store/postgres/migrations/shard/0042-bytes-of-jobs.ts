import type { Migration } from '../migration.ts';

/** As in 0020. */
const TENANT_JOBS_MAX = 10_000;
/** Of the payloads of a tenant's jobs, as they are stored: so many purges of 500 objects have less. */
const TENANT_BYTES_MIB = 256;

const define = (body: string): string => `
      CREATE OR REPLACE FUNCTION carrel.bound_work() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
      ${body}
        RETURN NULL;
      END $$;`;
const TOO_MANY = `RAISE EXCEPTION 'More than ${TENANT_JOBS_MAX} jobs of this institution wait. Try again later.' USING ERRCODE = 'CL003'`;

/** Jobs of a tenant are bounded by their bytes too: a payload may have a mebibyte. Sizes are read without the payloads. */
export const bytesOfJobs: Migration<object> = {
  name: '0042-bytes-of-jobs',
  up: () =>
    define(`
      DECLARE
        found record;
      BEGIN
        -- Not where the operator moves or restores what is there.
        SELECT count(*) AS jobs, coalesce(sum(pg_column_size(w.payload)), 0) AS bytes INTO found
          FROM (SELECT j.payload FROM carrel.work j WHERE j.tenant = current_user LIMIT ${TENANT_JOBS_MAX + 1}) w;
        IF found.jobs > ${TENANT_JOBS_MAX} THEN
          ${TOO_MANY};
        ELSIF found.bytes > ${TENANT_BYTES_MIB} * 1024 * 1024 THEN
          RAISE EXCEPTION 'The jobs of this institution that wait have more than ${TENANT_BYTES_MIB} MiB. Try again later.' USING ERRCODE = 'CL003';
        END IF;`),
  down: () =>
    define(`BEGIN
        -- Not where the operator moves or restores what is there.
        IF (SELECT count(*) FROM (SELECT FROM carrel.work w WHERE w.tenant = current_user LIMIT ${TENANT_JOBS_MAX + 1}) w) > ${TENANT_JOBS_MAX} THEN
          ${TOO_MANY};
        END IF;`),
};
