import { BY_INDEX, inSchema, triggerFunction } from './function.ts';

/** `whose`: of the rows `changed`, as rows of `owner`. */
const countOf = (name: string, whose: string): string => `
  CREATE OR REPLACE FUNCTION carrel.${name}() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
  BEGIN
    -- Most files that go for ever have none.
    IF NOT EXISTS (SELECT FROM changed) THEN
      RETURN NULL;
    END IF;
    ${inSchema('TG_TABLE_SCHEMA')}
    PERFORM FROM users u WHERE u.id IN (SELECT o.owner FROM (${whose}) o) ORDER BY u.id FOR NO KEY UPDATE;
    UPDATE users u SET entries = CASE TG_OP WHEN 'INSERT' THEN u.entries + c.count ELSE greatest(0, u.entries - c.count) END
      FROM (SELECT o.owner, count(*) AS count FROM (${whose}) o GROUP BY o.owner) c WHERE u.id = c.owner;
    RETURN NULL;
  END $$;`;

/**
 * users.entries: files, folders, older versions, share links, tags and tagged files that somebody owns.
 *
 * These are triggers of statements, so that a statement that makes or deletes thousands changes that row once. A link counts to
 * whoever made it, a tag of a file to the tag's owner. count_shares and count_tag_links lock the people in the order of their
 * ids. count_version counts a version after the first to the file's owner; what deletes versions counts them itself, since the
 * file is gone by then.
 */
export const entryFunctions = `
  ${triggerFunction(
    'count_entries',
    {
      body: `
    IF TG_OP = 'INSERT' THEN
      UPDATE users u SET entries = u.entries + c.count
        FROM (SELECT owner_id, count(*) AS count FROM changed GROUP BY owner_id) c WHERE u.id = c.owner_id;
    ELSE
      UPDATE users u SET entries = greatest(0, u.entries - c.count)
        FROM (SELECT owner_id, count(*) AS count FROM changed GROUP BY owner_id) c WHERE u.id = c.owner_id;
    END IF;`,
    },
    BY_INDEX,
  )}
  ${countOf('count_shares', 'SELECT s.created_by AS owner FROM changed s')}
  ${countOf('count_tag_links', 'SELECT t.owner_id AS owner FROM changed l JOIN tags t ON t.id = l.tag_id')}
  ${triggerFunction(
    'count_version',
    { body: 'UPDATE users u SET entries = u.entries + 1 FROM files f WHERE f.id = NEW.file_id AND u.id = f.owner_id;' },
    BY_INDEX,
  )}

  -- Before the tag is gone: its links count to its owner.
  CREATE OR REPLACE FUNCTION carrel.unlink_tag() RETURNS trigger LANGUAGE plpgsql ${BY_INDEX} SET search_path = '' AS $$
  BEGIN
    ${inSchema('TG_TABLE_SCHEMA')}
    DELETE FROM file_tags WHERE tag_id = OLD.id;
    RETURN OLD;
  END $$;
`;
