/** A trigger function of the tenant's schema; `body` is what it does, with the statements' tables of that schema. */
export const inSchema = (name: string, body: string): string => `
  CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    ${body}
    RETURN NULL;
  END $$;`;
