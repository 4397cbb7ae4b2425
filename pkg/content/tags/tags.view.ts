import { etagOf } from '../../api/etag.ts';
import type { TagView } from './tags.schema.ts';

/** Times are text where the row comes as JSON. */
export interface TagRow {
  readonly uuid: string;
  readonly name: string;
  readonly color: string | null;
  /** The number of live files with this tag that the owner may read. */
  readonly files: number;
  readonly revision: number;
  readonly createdAt: Date | string;
  readonly updatedAt: Date | string;
}

/** Covers all that is shown: a 304 must not hide that a file got the tag. */
export const tagEtag = ({ uuid, revision, files }: TagRow): string => etagOf('tag', uuid, `${revision}/${files}`);

export const presentTag = (tag: TagRow, ownerUuid: string): TagView => ({
  id: tag.uuid,
  name: tag.name,
  color: tag.color,
  owner_id: ownerUuid,
  files_count: tag.files,
  created_at: new Date(tag.createdAt).toISOString(),
  updated_at: new Date(tag.updatedAt).toISOString(),
  etag: tagEtag(tag),
});
