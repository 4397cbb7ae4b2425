import type { Actor } from '../../api/actor.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeysetRequest, KeyValue, Statement } from '../../store/postgres/keyset.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantedAtLeast, levelOn, requireLevel } from '../model/access/inherited-access.policy.ts';
import { listedFiles } from '../lists/file-list.sql.ts';
import type { ListedFile } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { findFolder, type FolderRecord, foldersByUuid } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import type { FoundItem, SearchQuery } from './search.schema.ts';
import type { Searcher } from './conditions.sql.ts';
import { FILTERED, filteredPage, type FilteredRow } from './filtered.sql.ts';
import { FOUND, type FoundRow, SCORE_MAX, searchPage } from './search.sql.ts';
import { highlighted, wordsOf } from './words.policy.ts';

/**
 * Searches the files and folders that the actor may read, by name and by filters.
 *
 * Invariants:
 * - Results never disclose anything that the actor may not see: neither an item, its rank or path, nor how many there are.
 * - Work is bounded: at most 1,000 names are ranked.
 * - Without words the pages have everything that fits the filters; what changes meanwhile comes to the front.
 */
export class Search {
  readonly #db: Database;

  constructor(deps: { db: Database }) {
    this.#db = deps.db;
  }

  /**
   * Lists what is found, the best first; without words the last changed first, or in the order of its creation. Takes at most
   * three statements: what is found, its files and its folders; one more with a folder. Throws `not_found` for a folder that the
   * actor may not see.
   */
  async find(actor: Actor, query: SearchQuery, order: 'changed' | 'created' = 'changed'): Promise<Page<FoundItem>> {
    const caller = { actor, granted: await actor.permissionSet() };
    const searcher = { userId: actor.userId, ...grantedAtLeast(caller.granted, 'read') };
    const words = query.q === undefined ? undefined : wordsOf(query.q);
    // Only a search without `q` lists everything: words that find nothing must not.
    const { request, statement, rankOf, valuesOf } = words ? ranked(searcher, words, query) : filtered(searcher, query, order);
    if (query.folder_id !== undefined) await this.#requireFolder(caller, query.folder_id);
    const rows = await this.#db.query<FoundRow & FilteredRow>(statement.sql, statement.params);
    const shown = rows.slice(0, request.limit);
    const [files, folders] = await Promise.all([this.#files(shown), this.#folders(shown)]);
    const items = shown.map((row) => {
      const rank = rankOf(row);
      const file = files.get(row.uuid);
      const folder = folders.get(row.uuid);
      if (file && isReadable('file', caller, file)) {
        const view = presentFile(fileSeenBy(caller, file));
        return { type: 'file' as const, ...view, rank, highlight: highlighted(view.name, words ?? []) };
      }
      if (folder && isReadable('folder', caller, folder)) {
        const view = presentFolder(folderSeenBy(caller, folder));
        return { type: 'folder' as const, ...view, rank, highlight: highlighted(view.name, words ?? []) };
      }
      return undefined; // deleted or moved since it was found
    });
    const found = page(request, rows, (_row, at) => items[at], valuesOf);
    return { ...found, data: found.data.filter((item) => item !== undefined) };
  }

  async #requireFolder(caller: Caller, id: string): Promise<void> {
    const folder = await findFolder(this.#db.tables, id);
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', caller, folder), 'read');
  }

  async #files(rows: readonly Kind[]): Promise<ReadonlyMap<string, ListedFile>> {
    const uuids = rows.filter(({ kind }) => kind === 'file').map(({ uuid }) => uuid);
    return new Map((await listedFiles(this.#db.tables, uuids)).map((file) => [file.uuid, file]));
  }

  async #folders(rows: readonly Kind[]): Promise<ReadonlyMap<string, FolderRecord>> {
    const uuids = rows.filter(({ kind }) => kind === 'folder').map(({ uuid }) => uuid);
    return new Map((await foldersByUuid(this.#db.tables, uuids)).map((folder) => [folder.uuid, folder]));
  }
}

const isReadable = (kind: 'file' | 'folder', caller: Caller, item: ListedFile | FolderRecord): boolean =>
  item.deletedAt === null && levelOn(kind, caller, item) !== null;

type Kind = Pick<FoundRow, 'kind' | 'uuid'>;

/** The statement of a page, and what its rows give. */
interface Asked<Row> {
  readonly request: KeysetRequest;
  readonly statement: Statement;
  readonly rankOf: (row: Row) => number;
  readonly valuesOf: (row: Row) => readonly KeyValue[];
}

function ranked(searcher: Searcher, words: readonly string[], query: SearchQuery): Asked<FoundRow> {
  const request = pageRequest(query, FOUND.order);
  return {
    request,
    statement: searchPage(searcher, words, query, request),
    rankOf: ({ score }) => Math.round((score * 10_000) / (SCORE_MAX * words.length)) / 10_000,
    valuesOf: (row) => FOUND.valuesOf(request, row),
  };
}

function filtered(searcher: Searcher, query: SearchQuery, order: 'changed' | 'created'): Asked<FilteredRow> {
  const request = pageRequest(order === 'created' ? { ...query, sort: 'id' } : query, FILTERED.order);
  return {
    request,
    statement: filteredPage(searcher, query, request),
    rankOf: () => 0,
    valuesOf: (row) => FILTERED.valuesOf(request, row),
  };
}
