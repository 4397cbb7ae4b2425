/** Jobs of one tenant that wait. */
const TENANT_JOBS_MAX = 10_000;
/** The bytes that the payloads of a tenant's jobs may take as stored; as many purges of 500 objects take less. */
const TENANT_BYTES_MIB = 256;
/** Notes for the operator of one tenant, of each kind. */
const NOTES_MAX = 10_000;

/**
 * Bounds of a tenant's jobs, by their number and by their bytes, since a payload may have a mebibyte; and of its notes for the
 * operator. Both are counted each time; sizes are read without the payloads. SQLSTATE CL003: it may be tried again.
 */
export const jobFunctions = `
  CREATE OR REPLACE FUNCTION carrel.bound_work() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
  DECLARE
    found record;
  BEGIN
    -- Not where the operator moves or restores what is there.
    SELECT count(*) AS jobs, coalesce(sum(pg_column_size(w.payload)), 0) AS bytes INTO found
      FROM (SELECT j.payload FROM carrel.work j WHERE j.tenant = current_user LIMIT ${TENANT_JOBS_MAX + 1}) w;
    IF found.jobs > ${TENANT_JOBS_MAX} THEN
      RAISE EXCEPTION 'More than ${TENANT_JOBS_MAX} jobs of this institution wait. Try again later.' USING ERRCODE = 'CL003';
    ELSIF found.bytes > ${TENANT_BYTES_MIB} * 1024 * 1024 THEN
      RAISE EXCEPTION 'The jobs of this institution that wait have more than ${TENANT_BYTES_MIB} MiB. Try again later.'
        USING ERRCODE = 'CL003';
    END IF;
    RETURN NULL;
  END $$;

  CREATE OR REPLACE FUNCTION carrel.bound_notes() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
  DECLARE
    found bigint;
  BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT FROM carrel.%I n WHERE n.tenant = current_user LIMIT ${NOTES_MAX + 1}) n',
      TG_TABLE_NAME) INTO found;
    IF found > ${NOTES_MAX} THEN
      RAISE EXCEPTION 'More than ${NOTES_MAX} notes of this institution wait. Try again later.' USING ERRCODE = 'CL003';
    END IF;
    RETURN NULL;
  END $$;
`;
