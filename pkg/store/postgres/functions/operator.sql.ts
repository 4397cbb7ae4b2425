/** Notifies the operator at once (channel `carrel_operator`); otherwise it sees the row at its next poll. */
export const operatorFunctions = `
  CREATE OR REPLACE FUNCTION carrel.notify_operator() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
  BEGIN
    PERFORM pg_catalog.pg_notify('carrel_operator', '');
    RETURN NULL;
  END $$;
`;
