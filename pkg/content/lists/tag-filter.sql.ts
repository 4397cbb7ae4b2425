import type { Parameters } from '../../store/postgres/keyset.ts';
import type { FileFilter } from './file-filter.sql.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the filter for files that have the owner's tag of this name or id. `me`: the owner's parameter. */
export function taggedFiles(tag: string, me: string, params: Parameters): FileFilter {
  const name = `lower(t.name) = lower(${params.add(tag)}::text)`;
  const named = UUID.test(tag) ? `(${name} OR t.uuid = ${params.add(tag)}::uuid)` : name;
  const links = `file_tags l WHERE l.tag_id = ANY (ARRAY(SELECT t.id FROM tags t WHERE t.owner_id = ${me} AND ${named}))`;
  return { files: `SELECT l.file_id FROM ${links}`, has: `EXISTS (SELECT FROM ${links} AND l.file_id = f.id)` };
}
