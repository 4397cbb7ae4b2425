import type { Tx } from '../../store/postgres/database.ts';
import {
  integerKey,
  keyset,
  type KeysetRequest,
  nameKey,
  Parameters,
  type Statement,
  timeKey,
} from '../../store/postgres/keyset.ts';
import type { Viewer } from '../model/access/viewer.ts';
import { TAG_SORT_FIELDS } from './tags.schema.ts';
import type { TagRow } from './tags.view.ts';

type TagSort = (typeof TAG_SORT_FIELDS)[number] | 'id';
/** Whose tags, and what of files they may read. */
export type TagOwner = Omit<Viewer, 'known'>;
export type StoredTag = TagRow & { readonly id: number; readonly createdAt: Date; readonly updatedAt: Date };

export const TAGS = keyset<StoredTag, TagSort>({
  keys: {
    name: nameKey('t.name', ({ name }) => name),
    created_at: timeKey('t.created_at', ({ createdAt }) => createdAt),
    updated_at: timeKey('t.updated_at', ({ updatedAt }) => updatedAt),
    id: integerKey('t.id', ({ id }) => id),
  },
  fields: TAG_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

/**
 * Counts the files of each tag, as rows `tag_id, files`: live files that the owner may read, because a tag outlives the right
 * to read the file. `of`: a condition on links `l`. `me`: the owner's parameter.
 */
export function filesOfTags(owner: TagOwner, { me, of }: { me: string; of: string }, params: Parameters): string {
  return `
    SELECT l.tag_id, count(*)::int AS files FROM file_tags l JOIN files f ON f.id = l.file_id
    WHERE ${of} AND f.deleted_at IS NULL AND (f.owner_id = ${me} OR f.uuid = ANY (${params.add(owner.files)}::uuid[]) OR EXISTS (
        SELECT FROM folders d JOIN folders o ON o.id = ANY (string_to_array(ltree2text(d.ancestry), '.')::bigint[])
        WHERE d.id = f.folder_id AND (o.owner_id = ${me} OR o.uuid = ANY (${params.add(owner.folders)}::uuid[]))))
    GROUP BY l.tag_id`;
}

/**
 * Tags of the owner's: one, held until the end of the transaction with `lock`; or a page, of those on a file (its internal id)
 * where it is given.
 */
export type WantedTags =
  | { readonly uuid: string; readonly lock?: boolean }
  | { readonly page: KeysetRequest<TagSort>; readonly file?: number };

/** Returns the one statement that selects tags with the numbers of their files. */
export function selectTags(owner: TagOwner, wanted: WantedTags): Statement {
  const params = new Parameters();
  const me = params.add(owner.userId);
  const conditions = [`t.owner_id = ${me}`];
  let order = 't.id';
  let tail = '';
  if ('uuid' in wanted) {
    conditions.push(`t.uuid = ${params.add(wanted.uuid)}`);
    if (wanted.lock) tail = 'FOR UPDATE OF t';
  } else {
    const { page, file } = wanted;
    if (file !== undefined) conditions.push(`t.id IN (SELECT s.tag_id FROM file_tags s WHERE s.file_id = ${params.add(file)})`);
    conditions.push(...TAGS.after(page, params));
    order = TAGS.orderBy(page);
    tail = `LIMIT ${params.add(page.limit + 1)}`;
  }
  const sql = `
    WITH picked AS MATERIALIZED (SELECT t.* FROM tags t WHERE ${conditions.join(' AND ')} ORDER BY ${order} ${tail}),
    counted AS (${filesOfTags(owner, { me, of: 'l.tag_id IN (SELECT p.id FROM picked p)' }, params)})
    SELECT t.id, t.uuid, t.name, t.color, t.revision, t.created_at AS "createdAt", t.updated_at AS "updatedAt",
      coalesce(c.files, 0) AS files
    FROM picked t LEFT JOIN counted c ON c.tag_id = t.id ORDER BY ${order}`;
  return { sql, params: params.values };
}

const OWN_TAG = 'SELECT t.id FROM tags t WHERE t.uuid = $1 AND t.owner_id = $2';

/** Gives no row where the tag is not there. Parameters: uuid and owner of the tag, internal ids of the files. */
export const LINK = `
  WITH tag AS (${OWN_TAG} FOR KEY SHARE),
  linked AS (INSERT INTO file_tags (file_id, tag_id) SELECT f.id, tag.id FROM tag, unnest($3::bigint[]) f (id) ORDER BY f.id
    ON CONFLICT DO NOTHING)
  SELECT id FROM tag`;
export const UNLINK = `
  WITH tag AS (${OWN_TAG}),
    unlinked AS (DELETE FROM file_tags l USING tag WHERE l.tag_id = tag.id AND l.file_id = ANY ($3::bigint[]))
  SELECT id FROM tag`;

/** Copies one user's tags on their own files; a tag whose name the other user has, in any case of letters, becomes that one. */
const COPY_TAGS = `
  INSERT INTO tags (uuid, name, color, owner_id)
  SELECT gen_random_uuid(), t.name, t.color, $2 FROM tags t
  WHERE t.owner_id = $1 AND t.id IN (SELECT l.tag_id FROM file_tags l JOIN files f ON f.id = l.file_id WHERE f.owner_id = $1)
  ON CONFLICT DO NOTHING`;
const COPY_LINKS = `
  INSERT INTO file_tags (file_id, tag_id)
  SELECT l.file_id, n.id FROM file_tags l JOIN files f ON f.id = l.file_id AND f.owner_id = $1
  JOIN tags t ON t.id = l.tag_id AND t.owner_id = $1 JOIN tags n ON n.owner_id = $2 AND lower(n.name) = lower(t.name)
  ON CONFLICT DO NOTHING`;

/**
 * Gives a user the tags that another has on files of their own. Two statements, so that the second sees a tag that was made
 * meanwhile.
 */
export async function copyTagsOfFiles(tx: Tx, from: number, to: number): Promise<void> {
  await tx.query(COPY_TAGS, [from, to]);
  await tx.query(COPY_LINKS, [from, to]);
}
