import type { Migration } from '../migration.ts';

/** Grants that one person has given. */
const PERSON_GRANTS_MAX = 100_000;

/** A connection plans a function's statements once, and a plan that was made while the tables were small reads whole tables. */
const BY_INDEX = 'SET enable_seqscan = off SET enable_bitmapscan = off';

/** `whose`: of the rows `changed`, as rows of `owner`. */
const countOf = (name: string, whose: string): string => `
      CREATE FUNCTION carrel.${name}() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
      BEGIN
        -- Most files that go for ever have none.
        IF NOT EXISTS (SELECT FROM changed) THEN
          RETURN NULL;
        END IF;
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        PERFORM FROM users u WHERE u.id IN (SELECT o.owner FROM (${whose}) o) ORDER BY u.id FOR NO KEY UPDATE;
        UPDATE users u SET entries = CASE TG_OP WHEN 'INSERT' THEN u.entries + c.count ELSE greatest(0, u.entries - c.count) END
          FROM (SELECT o.owner, count(*) AS count FROM (${whose}) o GROUP BY o.owner) c WHERE u.id = c.owner;
        RETURN NULL;
      END $$;`;

const renamed = (from: string, to: string): string =>
  `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('carrel.hold_limits'::regproc), '${from}', '${to}'); END $$;`;
const FILES_AND_FOLDERS = ['% files and folders', '500000 files and folders'] as const;

/**
 * What else counts in users.entries (tenant migration 0082), and bounds of rows that no counter has.
 *
 * count_shares and count_tag_links are triggers of statements, as count_entries: a link counts to whoever made it, a tag of a
 * file to the tag's owner. They lock the people in the order of their ids. count_version counts a version after the first to the
 * file's owner; what deletes versions counts them itself, since the file is gone by then.
 *
 * bound_grants counts what is there, up to the bound: grants end in too many ways, and change their giver. SQLSTATE CL001: of the
 * person.
 */
export const countRows: Migration<object> = {
  name: '0026-count-rows',
  up: () => `
      ${countOf('count_shares', 'SELECT s.created_by AS owner FROM changed s')}
      ${countOf('count_tag_links', 'SELECT t.owner_id AS owner FROM changed l JOIN tags t ON t.id = l.tag_id')}

      CREATE FUNCTION carrel.count_version() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        UPDATE users u SET entries = u.entries + 1 FROM files f WHERE f.id = NEW.file_id AND u.id = f.owner_id;
        RETURN NULL;
      END $$;

      -- Before the tag is gone: its links count to its owner.
      CREATE FUNCTION carrel.unlink_tag() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        DELETE FROM file_tags WHERE tag_id = OLD.id;
        RETURN OLD;
      END $$;

      CREATE FUNCTION carrel.bound_grants() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
      DECLARE
        giver bigint;
      BEGIN
        PERFORM set_config('search_path', format('%I, carrel, ext, pg_temp', TG_TABLE_SCHEMA), true);
        FOR giver IN SELECT DISTINCT c.granted_by FROM changed c LOOP
          IF (SELECT count(*) FROM (SELECT FROM permissions p WHERE p.granted_by = giver LIMIT ${PERSON_GRANTS_MAX + 1}) p) > ${PERSON_GRANTS_MAX} THEN
            RAISE EXCEPTION 'Nobody may have given more than ${PERSON_GRANTS_MAX} grants. Take some back.' USING ERRCODE = 'CL001';
          END IF;
        END LOOP;
        RETURN NULL;
      END $$;
      ALTER FUNCTION carrel.count_entries() ${BY_INDEX};
      ${renamed(FILES_AND_FOLDERS[0], '% files, folders and what belongs to them')}
      ${renamed(FILES_AND_FOLDERS[1], '500000 files, folders and what belongs to them (older versions, share links, tags)')}

      REVOKE ALL ON FUNCTION carrel.count_shares, carrel.count_tag_links, carrel.count_version, carrel.unlink_tag, carrel.bound_grants FROM PUBLIC;
    `,
  down: () => `
      ${renamed('500000 files, folders and what belongs to them (older versions, share links, tags)', FILES_AND_FOLDERS[1])}
      ${renamed('% files, folders and what belongs to them', FILES_AND_FOLDERS[0])}
      ALTER FUNCTION carrel.count_entries() RESET enable_seqscan RESET enable_bitmapscan;
      DROP FUNCTION carrel.count_shares, carrel.count_tag_links, carrel.count_version, carrel.unlink_tag, carrel.bound_grants;
    `,
};
