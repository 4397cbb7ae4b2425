import type { Actor, Level } from '../../api/actor.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantedAtLeast, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { listedRecordOf } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { grantsOfGroup } from '../model/access/grants.sql.ts';
import { presentGrant } from '../model/access/grants.view.ts';
import { childRows, KINDS } from './child-rows.ts';
import { CHILDREN, folderList, FOLDERS } from './folder-list.sql.ts';
import { findFolder, type FolderRecord } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import type { Child, ChildQuery, FolderQuery, FolderView } from '../model/folders/folders.schema.ts';

/** Lists folders, and the content of a folder. What the actor sees of a folder is decided once per page. */
export class FolderLists {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /**
   * Lists the folders that the actor may see; in the trash those that they may write. Takes one statement; two with the id of a
   * parent. Throws `not_found`.
   */
  async list(actor: Actor, query: FolderQuery): Promise<Page<FolderView>> {
    const request = pageRequest(query, FOLDERS.order);
    const caller = { actor, granted: await actor.permissionSet() };
    const isNamed = query.parent_id !== undefined && query.parent_id !== 'root';
    const parent = isNamed ? await this.#open(caller, query.parent_id as Uuid, query.trashed ? 'write' : 'read') : null;
    const { folders } = grantedAtLeast(caller.granted, query.trashed ? 'write' : 'read');
    const { sql, params } = folderList({ userId: actor.userId, folders }, query, parent, request);
    const rows = await this.#db.query<FolderRecord>(sql, params);
    return page(
      request,
      rows,
      (row) => presentFolder(folderSeenBy(caller, row)),
      (row) => FOLDERS.valuesOf(request, row),
    );
  }

  /**
   * Lists the children of a folder, or with null of the actor's root: folders first, then files. Takes at most two statements,
   * and one where the page has folders alone, or in a root files alone; with `grant_of` one more. Throws `not_found`.
   */
  async children(actor: Actor, id: Uuid | null, query: ChildQuery): Promise<Page<Child>> {
    const caller = { actor, granted: await actor.permissionSet() };
    const from =
      id === null ? { ownerId: actor.userId } : { id, read: (row?: FolderRecord) => requireFolder(caller, row, 'read') };
    const { request, folder, folders, files } = await childRows(this.#db, from, query);
    const ancestors = folder?.ancestors ?? [];
    const maySeeGrants = (kind: Child['type'], resource: Parameters<typeof levelOn>[2]): boolean =>
      query.grant_of !== undefined && actor.permissions.has('share:files') && levelOn(kind, caller, resource) === 'admin';
    const items = [
      ...folders.map((row) => ({
        row,
        hasGrants: maySeeGrants('folder', row),
        child: { type: 'folder' as const, ...presentFolder(folderSeenBy(caller, row)) },
      })),
      ...files.map((row) => {
        const file = { ...listedRecordOf(row), ownerUuid: row.ownerUuid, ownerName: row.ownerName, folder, ancestors };
        const child = { type: 'file' as const, ...presentFile(fileSeenBy(caller, file)) };
        return { row, hasGrants: maySeeGrants('file', file), child };
      }),
    ];
    return page(
      request.page,
      query.grant_of === undefined ? items : await this.#withGrants(query.grant_of, items),
      ({ child }): Child => child,
      ({ row, child }) => [KINDS[child.type], ...CHILDREN.valuesOf(request.inner, row)],
    );
  }

  /** `hasGrants`: the actor may list its grants. One statement. */
  async #withGrants<Item extends { readonly row: { readonly id: number }; readonly hasGrants: boolean; readonly child: Child }>(
    groupId: Uuid,
    items: readonly Item[],
  ): Promise<Item[]> {
    const idsOf = (kind: Child['type']): number[] =>
      items.filter(({ hasGrants, child }) => hasGrants && child.type === kind).map(({ row }) => row.id);
    const grants = await grantsOfGroup(this.#db, groupId, { folders: idsOf('folder'), files: idsOf('file') });
    const of = new Map(grants.map((grant) => [`${grant.kind} ${grant.resourceId}`, grant]));
    return items.map((item) => {
      const { type, id: uuid } = item.child;
      const grant = of.get(`${type} ${item.row.id}`);
      return { ...item, child: { ...item.child, grant: grant ? presentGrant({ kind: type, uuid }, grant) : null } };
    });
  }

  /** Returns a live folder on which the actor has this level. One statement. Throws `not_found`, `forbidden`. */
  async #open(caller: Caller, id: Uuid, wanted: Level): Promise<FolderRecord> {
    return requireFolder(caller, await findFolder(this.#db.tables, id), wanted);
  }
}

/** Throws `not_found`, `forbidden`. */
function requireFolder(caller: Caller, folder: FolderRecord | null | undefined, wanted: Level): FolderRecord {
  if (!folder) throw new Problem('not_found');
  requireLevel(levelOn('folder', caller, folder), wanted);
  return folder;
}
