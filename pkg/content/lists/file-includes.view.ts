import type { Actor } from '../../api/actor.ts';
import { etagOf } from '../../api/etag.ts';
import type { Sql } from '../../store/postgres/pool.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantedAtLeast, levelOn } from '../model/access/inherited-access.policy.ts';
import { presentGrant } from '../model/access/grants.view.ts';
import { presentMetadata } from '../metadata/metadata.view.ts';
import { presentTag } from '../tags/tags.view.ts';
import type { ListedFile } from '../model/files/files.sql.ts';
import type { Include, IncludedFields } from './file-includes.schema.ts';
import { fileIncludes, PAGE_FIELDS_MAX_BYTES, type IncludedRow } from './file-includes.sql.ts';
import type { FileView } from '../model/files/files.schema.ts';

/*
 * The fields that `include` adds to files that the caller may read.
 *
 * Invariants:
 * - An included field shows no more than its own endpoint: grants only to those who may list them, tags only one's own.
 * - Included fields come from the database each time, never from the file's cached metadata, and the entity tag of such a reply
 *   covers them.
 */

/**
 * Returns the included fields by the files' internal ids, from the first file on; fewer than requested where a page cannot hold
 * them all. Takes one statement; none for no files.
 */
export async function includedFields(
  sql: Sql,
  caller: Caller,
  files: readonly ListedFile[],
  include: readonly Include[],
): Promise<ReadonlyMap<number, IncludedFields>> {
  if (files.length === 0) return new Map();
  const known = grantedAtLeast(caller.granted, 'read');
  const asked = files.map((file) => ({ id: file.id, grants: seesGrants(caller, file) }));
  const statement = fileIncludes({ userId: caller.actor.userId, ...known }, asked, include);
  const rows = await sql.query<IncludedRow>(statement.sql, statement.params);
  return new Map(withinBounds(rows.map((row, at) => [row.id, present(row, files[at]?.uuid ?? '', caller.actor)])));
}

/** Returns the first file and those that fit beside it as JSON: a value may be six times as long in a reply as it is stored. */
function withinBounds(all: readonly (readonly [number, IncludedFields])[]): readonly (readonly [number, IncludedFields])[] {
  let bytes = 0;
  const last = all.findIndex(([, fields], at) => {
    bytes += Buffer.byteLength(JSON.stringify(fields));
    return at > 0 && bytes > PAGE_FIELDS_MAX_BYTES;
  });
  return last === -1 ? all : all.slice(0, last);
}

/** Returns whether GET /files/{id}/permissions lists the file's grants to the caller. */
const seesGrants = (caller: Caller, file: ListedFile): boolean =>
  caller.actor.permissions.has('share:files') && file.deletedAt === null && levelOn('file', caller, file) === 'admin';

/** Returns the entity tag of a reply that shows these fields too; If-Match still compares the file's own. */
export const includedEtag = (file: FileView, fields: IncludedFields): string =>
  etagOf('file-with-includes', file.id, JSON.stringify([file.etag, fields]));

const present = (row: IncludedRow, uuid: string, actor: Actor): IncludedFields => ({
  ...(row.tags && { tags: row.tags.map((tag) => presentTag(tag, actor.userUuid)) }),
  ...(row.metadata && { metadata: row.metadata.map((entry) => presentMetadata(entry, uuid)) }),
  ...(row.versions_count !== undefined && { versions_count: row.versions_count }),
  ...(row.permissions !== undefined && {
    permissions: row.permissions?.map((grant) => presentIncludedGrant(grant, uuid)) ?? null,
  }),
});

const presentIncludedGrant = (grant: NonNullable<IncludedRow['permissions']>[number], uuid: string) =>
  presentGrant(
    { kind: 'file', uuid },
    { ...grant, grantedAt: new Date(grant.grantedAt), expiresAt: grant.expiresAt === null ? null : new Date(grant.expiresAt) },
  );
