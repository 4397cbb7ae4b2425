import type { Actor } from '../../api/actor.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantedAtLeast, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { listedFiles } from '../lists/file-list.sql.ts';
import type { ListedFile } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { findFolder, type FolderRecord, foldersByUuid } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import type { FoundItem, SearchQuery } from './search.schema.ts';
import { FOUND, type FoundRow, SCORE_MAX, searchPage } from './search.sql.ts';
import { highlighted, wordsOf } from './words.policy.ts';

/**
 * Searches the files and folders that the actor may read, by name.
 *
 * Invariants:
 * - Results never disclose anything that the actor may not see: neither an item, its rank or path, nor how many there are.
 * - Work is bounded: at most 1,000 names are ranked.
 */
export class Search {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /**
   * Lists what is found, the best first. Takes at most three statements: what is found, its files and its folders; one more
   * with a folder. Throws `not_found` for a folder that the actor may not see.
   */
  async find(actor: Actor, query: SearchQuery): Promise<Page<FoundItem>> {
    const request = pageRequest(query, FOUND.order);
    const caller = { actor, granted: await actor.permissionSet() };
    if (query.folder_id !== undefined) await this.#requireFolder(caller, query.folder_id);
    const words = wordsOf(query.q);
    const { sql, params } = searchPage(
      { userId: actor.userId, ...grantedAtLeast(caller.granted, 'read') },
      words,
      query,
      request,
    );
    const rows = await this.#db.query<FoundRow>(sql, params);
    const shown = rows.slice(0, request.limit);
    const [files, folders] = await Promise.all([this.#files(shown), this.#folders(shown)]);
    const items = shown.map((row) => {
      const found = { rank: Math.round((row.score * 10_000) / (SCORE_MAX * words.length)) / 10_000 };
      const file = files.get(row.uuid);
      const folder = folders.get(row.uuid);
      if (file && isReadable('file', caller, file)) {
        const view = presentFile(fileSeenBy(caller, file));
        return { type: 'file' as const, ...view, ...found, highlight: highlighted(view.name, words) };
      }
      if (folder && isReadable('folder', caller, folder)) {
        const view = presentFolder(folderSeenBy(caller, folder));
        return { type: 'folder' as const, ...view, ...found, highlight: highlighted(view.name, words) };
      }
      return undefined; // deleted or moved since it was found
    });
    const found = page(
      request,
      rows,
      (_row, at) => items[at],
      (row) => FOUND.valuesOf(request, row),
    );
    return { ...found, data: found.data.filter((item) => item !== undefined) };
  }

  async #requireFolder(caller: Caller, id: string): Promise<void> {
    const folder = await findFolder(this.#db.tables, id);
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', caller, folder), 'read');
  }

  async #files(rows: readonly FoundRow[]): Promise<ReadonlyMap<string, ListedFile>> {
    const uuids = rows.filter(({ kind }) => kind === 'file').map(({ uuid }) => uuid);
    return new Map((await listedFiles(this.#db.tables, uuids)).map((file) => [file.uuid, file]));
  }

  async #folders(rows: readonly FoundRow[]): Promise<ReadonlyMap<string, FolderRecord>> {
    const uuids = rows.filter(({ kind }) => kind === 'folder').map(({ uuid }) => uuid);
    return new Map((await foldersByUuid(this.#db.tables, uuids)).map((folder) => [folder.uuid, folder]));
  }
}

const isReadable = (kind: 'file' | 'folder', caller: Caller, item: ListedFile | FolderRecord): boolean =>
  item.deletedAt === null && levelOn(kind, caller, item) !== null;
