import type { TenantMigration } from './migration.ts';

/**
 * Tags change, so they have a revision; their names are unique per owner in any case of letters. Of two that are alike, written
 * past the API, the later gets its uuid added. Metadata is found by key and value: values are too long for a B-tree, so it is by
 * their hash.
 */
export const tagsAndMetadata: TenantMigration = {
  name: '0033-tags-and-metadata',
  loses: 'Revisions of tags, and when they changed.',
  up: () => `
      ALTER TABLE tags ADD COLUMN revision bigint NOT NULL DEFAULT 1, ADD COLUMN updated_at timestamptz(3) NOT NULL DEFAULT now();
      UPDATE tags SET updated_at = created_at;
      UPDATE tags t SET name = left(t.name, 60) || ' (' || t.uuid || ')'
        WHERE EXISTS (SELECT FROM tags o WHERE o.owner_id = t.owner_id AND o.id < t.id AND lower(o.name) = lower(t.name));
      ALTER TABLE tags DROP CONSTRAINT tags_name_owner_id_key;
      CREATE UNIQUE INDEX tags_owner_id_name_key ON tags (owner_id, lower(name));
      CREATE TRIGGER touch BEFORE UPDATE OF name, color ON tags FOR EACH ROW EXECUTE FUNCTION carrel.touch();
      CREATE INDEX file_metadata_key_value_idx ON file_metadata (key, md5(value), file_id);
    `,
  down: () => `
      DROP INDEX file_metadata_key_value_idx;
      DROP TRIGGER touch ON tags;
      DROP INDEX tags_owner_id_name_key;
      ALTER TABLE tags ADD CONSTRAINT tags_name_owner_id_key UNIQUE (name, owner_id);
      ALTER TABLE tags DROP COLUMN revision, DROP COLUMN updated_at;
    `,
};
