import { offer } from './function.ts';

/** The text that searches compare, the revisions of rows, and where a folder is in its tree. */
export const rowFunctions = `
  -- Without accents, in lower case. An index and a generated column hold what it returns: text that it folds otherwise from now
  -- on is found only when those are built again.
  CREATE OR REPLACE FUNCTION carrel.fold(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.lower(ext.unaccent('ext.unaccent'::regdictionary, $1)) $$;
  COMMENT ON FUNCTION carrel.fold(text) IS 'Text as search compares it: without accents, in lower case';
  ${offer('carrel_tenant', 'fold(text)')}
  ${offer('carrel_worker', 'fold(text)')}

  CREATE OR REPLACE FUNCTION carrel.touch() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.revision := OLD.revision + 1;
    NEW.updated_at := pg_catalog.now();
    RETURN NEW;
  END $$;

  -- Locks the parent, so that it is not moved while the new folder takes its path from it.
  CREATE OR REPLACE FUNCTION carrel.place_folder() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    parent ext.ltree;
  BEGIN
    IF NEW.parent_id IS NOT NULL THEN
      SELECT ancestry INTO parent FROM folders WHERE id = NEW.parent_id FOR SHARE;
    END IF;
    NEW.ancestry := CASE WHEN parent IS NULL THEN ext.text2ltree(NEW.id::text) ELSE ext.ltree_addtext(parent, NEW.id::text) END;
    NEW.depth := ext.nlevel(NEW.ancestry) - 1;
    RETURN NEW;
  END $$;
`;
