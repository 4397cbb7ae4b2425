import type { TenantMigration } from './migration.ts';

/** Rows that count to somebody beside files and folders, as rows of `owner`. */
const ROWS = `
  SELECT f.owner_id AS owner FROM file_versions v JOIN files f ON f.id = v.file_id WHERE v.version_number > 1
  UNION ALL SELECT created_by FROM shares
  UNION ALL SELECT owner_id FROM tags
  UNION ALL SELECT t.owner_id FROM file_tags l JOIN tags t ON t.id = l.tag_id`;

const counted = (sign: '+' | '-'): string => `
      ALTER TABLE users DISABLE TRIGGER limits;
      UPDATE users u SET entries = greatest(0, u.entries ${sign} c.count) FROM (SELECT owner, count(*) AS count FROM (${ROWS}) r GROUP BY owner) c WHERE u.id = c.owner;
      ALTER TABLE users ENABLE TRIGGER limits;`;

/** Triggers of statements that make and delete rows of a table. */
const ofStatements = (table: string, does: string): string => `
      CREATE TRIGGER count_new AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION carrel.${does}();
      CREATE TRIGGER count_gone AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION carrel.${does}();`;

/**
 * users.entries counts versions after the first, share links, tags and tagged files too, so that a person without quota fills no
 * table. Whoever has more than they may have keeps it. What servers of the former release delete of versions meanwhile, the
 * integrity check counts.
 */
export const countRows: TenantMigration = {
  name: '0082-count-rows',
  up: () => `
      LOCK TABLE file_versions, shares, tags, file_tags IN SHARE ROW EXCLUSIVE MODE;
      ${counted('+')}
      CREATE TRIGGER count_more AFTER INSERT ON file_versions FOR EACH ROW WHEN (NEW.version_number > 1) EXECUTE FUNCTION carrel.count_version();
      ${ofStatements('shares', 'count_shares')}
      ${ofStatements('tags', 'count_entries')}
      ${ofStatements('file_tags', 'count_tag_links')}
      CREATE TRIGGER unlink BEFORE DELETE ON tags FOR EACH ROW EXECUTE FUNCTION carrel.unlink_tag();
      CREATE TRIGGER bound AFTER INSERT ON permissions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION carrel.bound_grants();
    `,
  down: () => `
      LOCK TABLE file_versions, shares, tags, file_tags IN SHARE ROW EXCLUSIVE MODE;
      DROP TRIGGER bound ON permissions;
      DROP TRIGGER unlink ON tags;
      ${['shares', 'tags', 'file_tags'].map((table) => `DROP TRIGGER count_gone ON ${table}; DROP TRIGGER count_new ON ${table};`).join('\n      ')}
      DROP TRIGGER count_more ON file_versions;
      ${counted('-')}
    `,
};
