import type { Actor, Level } from '../../api/actor.ts';
import { JsonText } from '../../api/json-text.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Caller } from '../model/access/caller.ts';
import { type Ancestor, grantedAtLeast, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import type { FileTexts } from '../model/files/file-texts.ts';
import { grantsOfGroup } from '../model/access/grants.sql.ts';
import { presentGrant } from '../model/access/grants.view.ts';
import { childRows, KINDS, type Known } from './child-rows.ts';
import { type ChildFile, CHILDREN, folderList, FOLDERS } from './folder-list.sql.ts';
import { findFolder, type FolderRecord } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import type { ChildQuery, FolderQuery, FolderView } from '../model/folders/folders.schema.ts';

/** Lists folders, and the content of a folder. What the actor sees of a folder is decided once per page. */
export class FolderLists {
  readonly #db: Database;
  readonly #texts: FileTexts;

  constructor(deps: { db: Database; fileTexts: FileTexts }) {
    this.#db = deps.db;
    this.#texts = deps.fileTexts;
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
   * and one where the page has folders alone, or in a root files alone; one more where a file of a page that was asked for
   * before has changed since; with `grant_of` one more. Throws `not_found`.
   */
  async children(actor: Actor, id: Uuid | null, query: ChildQuery): Promise<Page<JsonText>> {
    const caller = { actor, granted: await actor.permissionSet() };
    const from =
      id === null ? { ownerId: actor.userId } : { id, read: (row?: FolderRecord) => requireFolder(caller, row, 'read') };
    const known: Known = (row, parent) =>
      this.#texts.known(caller, row, { ownerName: row.ownerName, folder: parent, ancestors: parent?.ancestors ?? [] });
    const isAgain = this.#texts.wasAskedFor('children', actor.userId, id, query.cursor, query.limit);
    const { request, folder, folders, files, texts } = await childRows(this.#db, from, query, isAgain ? known : undefined);
    const ancestors = folder?.ancestors ?? [];
    const items: Item[] = [
      ...folders.map((row) => ({ type: 'folder' as const, row, ancestors: row.ancestors })),
      ...files.map((row, at) => ({ type: 'file' as const, row, ancestors, known: texts?.[at] })),
    ];
    const grants = query.grant_of === undefined ? undefined : await this.#grants(caller, query.grant_of, items);
    const fieldsOf = (item: Item): string => {
      if (item.type === 'folder') return fieldsOfFolder(caller, item.row);
      const { ownerUuid, ownerName } = item.row;
      return item.known ?? this.#texts.of(caller, item.row, { ownerUuid, ownerName, folder, ancestors });
    };
    const grantOf = ({ type, row }: Item): string => (grants ? `,"grant":${grants.get(`${type} ${row.id}`) ?? null}` : '');
    return page(
      request.page,
      items,
      (item) => new JsonText(`{"type":"${item.type}",${fieldsOf(item)}${grantOf(item)}}`),
      ({ type, row }) => [KINDS[type], ...CHILDREN.valuesOf(request.inner, row)],
    );
  }

  /** Returns the group's grants on these items as JSON, by type and id: those that the actor may list. One statement. */
  async #grants({ actor, granted }: Caller, groupId: Uuid, items: readonly Item[]): Promise<ReadonlyMap<string, string>> {
    const idsOf = (wanted: Item['type']): number[] =>
      items
        .filter(({ type, row: { uuid, ownerId }, ancestors }) => {
          const isWanted = type === wanted && actor.permissions.has('share:files');
          return isWanted && levelOn(type, { actor, granted }, { uuid, ownerId, ancestors }) === 'admin';
        })
        .map(({ row }) => row.id);
    const grants = await grantsOfGroup(this.#db, groupId, { folders: idsOf('folder'), files: idsOf('file') });
    const uuids = new Map(items.map(({ type, row }) => [`${type} ${row.id}`, row.uuid]));
    return new Map(
      grants.map((grant) => {
        const key = `${grant.kind} ${grant.resourceId}`;
        return [key, JSON.stringify(presentGrant({ kind: grant.kind, uuid: uuids.get(key) as string }, grant))];
      }),
    );
  }

  /** Returns a live folder on which the actor has this level. One statement. Throws `not_found`, `forbidden`. */
  async #open(caller: Caller, id: Uuid, wanted: Level): Promise<FolderRecord> {
    return requireFolder(caller, await findFolder(this.#db.tables, id), wanted);
  }
}

/** A child of a folder, with the folders above it by which access is decided. */
type Item = { readonly ancestors: readonly Ancestor[] } & (
  | { readonly type: 'folder'; readonly row: FolderRecord }
  | { readonly type: 'file'; readonly row: ChildFile; readonly known: string | undefined }
);

const fieldsOfFolder = (caller: Caller, row: FolderRecord): string =>
  JSON.stringify(presentFolder(folderSeenBy(caller, row))).slice(1, -1);

/** Throws `not_found`, `forbidden`. */
function requireFolder(caller: Caller, folder: FolderRecord | null | undefined, wanted: Level): FolderRecord {
  if (!folder) throw new Problem('not_found');
  requireLevel(levelOn('folder', caller, folder), wanted);
  return folder;
}
