import type { TestTenant } from '../programs/server.ts';

/** Tags and metadata of files, as rows: many at once, and such as the API refuses (no value, a value of another type). */

/** Makes tags of the owner, each on all of `files`. The tags' ids. */
export async function tagFiles(
  tenant: TestTenant,
  owner: string,
  names: readonly string[],
  files: readonly string[],
): Promise<string[]> {
  const tags = await tenant.db.query<{ uuid: string }>(
    `WITH tag AS (
       INSERT INTO tags (uuid, name, color, owner_id)
       SELECT gen_random_uuid(), n.name, '#3366cc', u.id FROM users u, unnest($1::text[]) n (name) WHERE u.uuid = $2
       RETURNING id, uuid
     ), tagged AS (INSERT INTO file_tags (file_id, tag_id) SELECT f.id, tag.id FROM tag, files f WHERE f.uuid = ANY ($3::uuid[]))
     SELECT uuid FROM tag`,
    [names, owner, files],
  );
  return tags.map(({ uuid }) => uuid);
}

export interface MetadataEntry {
  readonly key: string;
  readonly value: string | null;
  /** Left out: `string`. */
  readonly type?: string;
}

/** Gives each of `files` these entries, which count to their owners. */
export async function addMetadata(
  tenant: TestTenant,
  files: readonly string[],
  entries: readonly MetadataEntry[],
): Promise<void> {
  await tenant.db.query(
    `WITH entry AS (
       INSERT INTO file_metadata (file_id, key, value, value_type)
       SELECT f.id, e.key, e.value, e.type FROM files f, unnest($2::text[], $3::text[], $4::text[]) e (key, value, type)
       WHERE f.uuid = ANY ($1::uuid[]) RETURNING file_id,
         ceil((octet_length(key) + coalesce(octet_length(value), 0)) / 1024.0) * 1024 AS bytes
     )
     UPDATE users u SET storage_used = u.storage_used + c.bytes
     FROM (SELECT f.owner_id, sum(e.bytes) AS bytes FROM entry e JOIN files f ON f.id = e.file_id GROUP BY f.owner_id) c
     WHERE c.owner_id = u.id`,
    [files, entries.map(({ key }) => key), entries.map(({ value }) => value), entries.map(({ type = 'string' }) => type)],
  );
}
