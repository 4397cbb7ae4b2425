import type { Migration } from '../migration.ts';

/** What all tenants of a shard share: the text folding of searches, the triggers of their tables, and the table of jobs. */
export const work: Migration<object> = {
  name: '0001-work',
  loses: 'Jobs that have not run.',
  up: () => `
      CREATE FUNCTION carrel.fold(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
        AS $$ SELECT pg_catalog.lower(ext.unaccent('ext.unaccent'::regdictionary, $1)) $$;
      COMMENT ON FUNCTION carrel.fold(text) IS 'Text as search compares it: without accents, in lower case';

      CREATE FUNCTION carrel.touch() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.revision := OLD.revision + 1;
        NEW.updated_at := pg_catalog.now();
        RETURN NEW;
      END $$;

      -- Locks the parent, so that it is not moved while the new folder takes its path from it.
      CREATE FUNCTION carrel.place_folder() RETURNS trigger LANGUAGE plpgsql AS $$
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

      CREATE TABLE carrel.work (
        tenant name NOT NULL DEFAULT current_user,
        id bigint GENERATED ALWAYS AS IDENTITY,
        kind varchar(100) NOT NULL,
        payload jsonb NOT NULL,
        requested_at timestamptz(3) NOT NULL DEFAULT now(),
        due_at timestamptz(3) NOT NULL DEFAULT now(),
        attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        leased_until timestamptz(3),
        fence uuid,
        last_error varchar(1000),
        PRIMARY KEY (tenant, id)
      );
      CREATE INDEX work_due_idx ON carrel.work (tenant, due_at, id);
      ALTER TABLE carrel.work ENABLE ROW LEVEL SECURITY;
      CREATE POLICY work_of_tenant ON carrel.work FOR SELECT TO carrel_tenant USING (tenant = current_user);
      CREATE POLICY work_by_tenant ON carrel.work FOR INSERT TO carrel_tenant WITH CHECK (tenant = current_user);
      CREATE POLICY work_of_worker ON carrel.work TO carrel_worker USING (true) WITH CHECK (true);

      REVOKE ALL ON ALL TABLES IN SCHEMA carrel FROM PUBLIC;
      REVOKE ALL ON ALL FUNCTIONS IN SCHEMA carrel FROM PUBLIC;
      GRANT EXECUTE ON FUNCTION carrel.fold(text) TO carrel_tenant, carrel_worker;
      GRANT SELECT ON carrel.work TO carrel_tenant;
      GRANT INSERT (kind, payload, due_at) ON carrel.work TO carrel_tenant;
      GRANT SELECT, UPDATE, DELETE ON carrel.work TO carrel_worker;
    `,
  down: () => `
      DROP TABLE carrel.work;
      DROP FUNCTION carrel.place_folder();
      DROP FUNCTION carrel.touch();
      DROP FUNCTION carrel.fold(text);
    `,
};
