import { GRANT_COLUMNS, GRANT_TABLES } from '../model/access/grants.sql.ts';
import { Parameters, type Statement } from '../../store/postgres/keyset.ts';
import type { MetadataRow } from '../metadata/metadata.view.ts';
import { filesOfTags } from '../tags/tags.sql.ts';
import type { TagRow } from '../tags/tags.view.ts';
import type { Viewer } from '../model/access/viewer.ts';
import { type Include, INCLUDED_MAX } from './file-includes.schema.ts';
import { MIB } from '../../runtime/bytes.ts';

/** A file whose included fields are requested; `grants`: the viewer may see its grants. */
export interface Asked {
  readonly id: number;
  readonly grants: boolean;
}

/** A row of `fileIncludes`: the requested fields as JSON, so times are text. */
export interface IncludedRow {
  readonly id: number;
  readonly tags?: readonly TagRow[];
  readonly metadata?: readonly MetadataRow[];
  readonly versions_count?: number;
  /** Null where the viewer may not see them. */
  readonly permissions?: readonly GrantJson[] | null;
}

export interface GrantJson {
  readonly uuid: string;
  readonly userId: string | null;
  readonly groupId: string | null;
  readonly level: 'read' | 'write' | 'admin';
  readonly grantedBy: string;
  readonly grantedAt: string;
  readonly expiresAt: string | null;
}

/**
 * A page ends before the file whose fields would exceed this, stored or as JSON: a file may have 100 values of 64 KiB. Its first
 * file is always shown. The statement weighs what is stored, so that no more is read; `includedFields` weighs the JSON.
 */
export const PAGE_FIELDS_MAX_BYTES = 4 * MIB;
/** The size that a row counts beside its text. */
const ROW_BYTES = 400;

/** A field as an expression over `asked a`, and about how many bytes of reply it is. */
interface Field {
  readonly sql: string;
  readonly bytes: string;
}

/**
 * Returns the one statement that reads the fields named by `include` of all these files, in their order, or of as many from the
 * first on as a page may hold. It reads the viewer's own tags alone.
 */
export function fileIncludes(viewer: Omit<Viewer, 'known'>, files: readonly Asked[], include: readonly Include[]): Statement {
  const params = new Parameters();
  const ids = `${params.add(files.map(({ id }) => id))}::bigint[]`;
  const grants = `${params.add(files.map(({ grants }) => grants))}::boolean[]`;
  const tagged = include.includes('tags') ? tagsOn(ids, params.add(viewer.userId)) : undefined;
  const fields = include.map((name) => ({ name, ...(name === 'tags' ? tags(tagged?.me ?? '') : FIELDS[name]) }));
  const sql = `
    WITH ${tagged ? `tagged AS MATERIALIZED (${filesOfTags(viewer, tagged, params)}),` : ''}
    asked AS (SELECT * FROM unnest(${ids}, ${grants}) WITH ORDINALITY AS a (id, grants, at)),
    weighed AS (SELECT a.*, sum(${fields.map(({ bytes }) => bytes).join(' + ')}) OVER (ORDER BY a.at) AS bytes FROM asked a)
    SELECT a.id, ${fields.map(({ name, sql }) => `${sql} AS ${name}`).join(', ')}
    FROM weighed a WHERE a.at = 1 OR a.bytes <= ${params.add(PAGE_FIELDS_MAX_BYTES)} ORDER BY a.at`;
  return { sql, params: params.values };
}

const list = (columns: string, from: string, order: string): string =>
  `(SELECT coalesce(json_agg(r), '[]') FROM (SELECT ${columns} FROM ${from} ORDER BY ${order} LIMIT ${INCLUDED_MAX}) r)`;
const rows = (from: string): string => `(SELECT least(count(*), ${INCLUDED_MAX}) * ${ROW_BYTES} FROM ${from})`;

const METADATA = 'file_metadata m WHERE m.file_id = a.id';
const GRANTS = `${GRANT_TABLES} WHERE p.resource_type = 'file' AND p.resource_id = a.id`;

const FIELDS: Readonly<Record<Exclude<Include, 'tags'>, Field>> = {
  metadata: {
    sql: list(
      `m.key, m.value, m.value_type AS type, m.revision, m.created_at AS "createdAt", m.updated_at AS "updatedAt"`,
      METADATA,
      'm.key',
    ),
    bytes: `(SELECT count(*) * ${ROW_BYTES} + coalesce(sum(octet_length(m.value)), 0) FROM ${METADATA})`,
  },
  versions_count: { sql: '(SELECT count(*)::int FROM file_versions v WHERE v.file_id = a.id)', bytes: '0' },
  permissions: {
    sql: `CASE WHEN a.grants THEN ${list(GRANT_COLUMNS, GRANTS, 'p.id')} END`,
    bytes: `CASE WHEN a.grants THEN ${rows(GRANTS)} ELSE 0 END`,
  },
};

function tags(me: string): Field {
  const from = `
    file_tags l JOIN tags t ON t.id = l.tag_id AND t.owner_id = ${me} LEFT JOIN tagged c ON c.tag_id = t.id
    WHERE l.file_id = a.id`;
  return {
    sql: list(
      `t.uuid, t.name, t.color, coalesce(c.files, 0) AS files, t.revision, t.created_at AS "createdAt",
         t.updated_at AS "updatedAt"`,
      from,
      't.name, t.id',
    ),
    bytes: rows(from),
  };
}

/** Links of the viewer's tags that are on these files. */
const tagsOn = (ids: string, me: string): { me: string; of: string } => ({
  me,
  of: `l.tag_id IN (SELECT t.id FROM file_tags s JOIN tags t ON t.id = s.tag_id
    WHERE s.file_id = ANY (${ids}) AND t.owner_id = ${me})`,
});
