import type { TenantMigration } from './migration.ts';

/**
 * Groups that administrators manage: a description, and names that are unique among them whatever the case of their letters. Two
 * courses may have one title. A group that was written past the API and has a name that is taken gets its uuid added.
 */
export const managedGroups: TenantMigration = {
  name: '0031-groups',
  loses: 'The descriptions of groups.',
  up: () => `
      ALTER TABLE groups ADD COLUMN description varchar(1000);
      UPDATE groups g SET name = left(g.name, 200) || ' (' || g.uuid || ')'
        WHERE g.context_id IS NULL
          AND EXISTS (SELECT FROM groups o WHERE o.context_id IS NULL AND o.id < g.id AND lower(o.name) = lower(g.name));
      CREATE UNIQUE INDEX groups_manual_name_key ON groups (lower(name)) WHERE context_id IS NULL;
      CREATE INDEX groups_name_idx ON groups (lower(name), id);
      -- A creator who is deleted, and a title that the LMS said and nobody took over, change nothing that is shown.
      DROP TRIGGER touch ON groups;
      CREATE TRIGGER touch BEFORE UPDATE OF name, description ON groups FOR EACH ROW EXECUTE FUNCTION carrel.touch();
    `,
  down: () => `
      DROP TRIGGER touch ON groups;
      CREATE TRIGGER touch BEFORE UPDATE ON groups FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      DROP INDEX groups_name_idx, groups_manual_name_key;
      ALTER TABLE groups DROP COLUMN description;
    `,
};
