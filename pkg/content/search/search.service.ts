import type { Actor } from '../../api/actor.ts';
import { JsonText } from '../../api/json-text.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeysetRequest, KeyValue } from '../../store/postgres/keyset.ts';
import type { Caller } from '../model/access/caller.ts';
import { grantedAtLeast, levelOn, requireLevel, type Resource } from '../model/access/inherited-access.policy.ts';
import { filesOf, listedRows, type PageRow, surroundingsOf } from '../lists/file-list.sql.ts';
import type { BeyondNewest } from '../lists/beyond-newest.ts';
import { NEWEST_MAX } from '../lists/newest-files.sql.ts';
import type { FileTexts } from '../model/files/file-texts.ts';
import type { ListedFile, Stamp, Surroundings } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import { findFolder, type FolderRecord, foldersById } from '../model/folders/folders.sql.ts';
import { folderSeenBy, presentFolder } from '../model/folders/folders.view.ts';
import type { FileView } from '../model/files/files.schema.ts';
import type { FolderView } from '../model/folders/folders.schema.ts';
import type { SearchQuery } from './search.schema.ts';
import type { Searcher } from './conditions.sql.ts';
import { FILTERED, filteredPage, type FilteredRow } from './filtered.sql.ts';
import { rankedPage, rankedRequest, SCORE_MAX, valuesOf } from './rank.policy.ts';
import {
  foundAmongNewest,
  foundNames,
  isUsualSearch,
  type NamesRow,
  type NewestRow,
  RANKED_MAX,
  type Way,
} from './search.sql.ts';
import { highlightOf, wordsOf } from './words.policy.ts';

/** What a page shows, in its order, and one more. */
interface Found {
  readonly caller: Caller;
  readonly words: readonly string[];
  readonly request: KeysetRequest;
  readonly rows: readonly FoundRow[];
}

/** A file or folder that was found. `id`: twice that of a file, and one more than twice that of a folder. */
interface FoundRow {
  readonly id: number;
  /** 0 to 1. */
  readonly rank: number;
  /** The values of the cursor after it. */
  readonly values: () => readonly KeyValue[];
}

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
  readonly #texts: FileTexts;
  readonly #beyond: BeyondNewest;

  constructor(deps: { db: Database; fileTexts: FileTexts; beyondNewest: BeyondNewest }) {
    this.#db = deps.db;
    this.#texts = deps.fileTexts;
    this.#beyond = deps.beyondNewest;
  }

  /**
   * Lists what is found, the best first; without words the last changed first, or in the order of its creation. Takes at most
   * four statements: what is found, twice where the words are not among the newest names, its files and its folders; one more
   * with a folder. Throws `not_found` for a folder that the actor may not see.
   */
  async find(actor: Actor, query: SearchQuery, order: 'changed' | 'created' = 'changed'): Promise<Page<Hit>> {
    const found = await this.#found(actor, query, order);
    const { caller } = found;
    const rows = await listedRows<PageRow>(this.#db.tables, idsOf('file', found), 'all');
    const files = new Map(filesOf(rows).map((file) => [file.id, file]));
    const folders = await this.#folders(found);
    return pageOf(found, ({ id }) => {
      const [file, folder] = [files.get(id / 2), folders.get((id - 1) / 2)];
      if (file && isReadable('file', caller, file)) return { type: 'file', ...presentFile(fileSeenBy(caller, file)) };
      if (folder && isReadable('folder', caller, folder))
        return { type: 'folder', ...presentFolder(folderSeenBy(caller, folder)) };
      return undefined;
    });
  }

  /**
   * Lists the same as JSON. Where the same page was asked for before, it takes one statement more for files that have changed
   * since.
   */
  async findAsJson(actor: Actor, query: SearchQuery): Promise<Page<JsonText>> {
    const found = await this.#found(actor, query, 'changed');
    const { caller, words } = found;
    const isAgain = this.#texts.wasAskedFor('search', actor.userId, query);
    const [files, folders] = await Promise.all([this.#files(found, isAgain), this.#folders(found)]);
    return pageOf(found, ({ id, rank }) => {
      const ranked = (type: string, fields: string, name: string): JsonText =>
        new JsonText(`{"type":"${type}",${fields},"rank":${rank},"highlight":${highlightOf(name, words)}}`);
      const [file, folder] = [files.get(id / 2), folders.get((id - 1) / 2)];
      if (file) return ranked('file', file.fields, file.name);
      if (folder && isReadable('folder', caller, folder))
        return ranked('folder', JSON.stringify(presentFolder(folderSeenBy(caller, folder))).slice(1, -1), folder.name);
      return undefined;
    });
  }

  /** Finds what a page shows, and one more. */
  async #found(actor: Actor, query: SearchQuery, order: 'changed' | 'created'): Promise<Found> {
    const caller = { actor, granted: await actor.permissionSet() };
    const searcher = { userId: actor.userId, ...grantedAtLeast(caller.granted, 'read') };
    if (query.q === undefined) {
      const request = pageRequest(order === 'created' ? { ...query, sort: 'id' } : query, FILTERED.order);
      if (query.folder_id !== undefined) await this.#requireFolder(caller, query.folder_id);
      const { sql, params } = filteredPage(searcher, query, request);
      const rows = await this.#db.query<FilteredRow>(sql, params);
      const values = (row: FilteredRow) => () => FILTERED.valuesOf(request, row);
      return { caller, words: [], request, rows: rows.map((row) => ({ id: row.id, rank: 0, values: values(row) })) };
    }
    const words = wordsOf(query.q);
    const isUsual = isUsualSearch(words, query);
    const { request, byIndex } = rankedRequest(query, !isUsual || this.#beyond.has(searcher.userId));
    if (query.folder_id !== undefined) await this.#requireFolder(caller, query.folder_id);
    const find = { searcher, words, query };
    const names = await (!isUsual ? this.#indexed(find) : byIndex ? this.#beyondNewest(find) : this.#newest(find));
    const ranked = rankedPage(names.lines, names.words, request);
    const rows = ranked.map((row) => ({ id: row.id, rank: rankOf(row.score, words), values: () => valuesOf(row) }));
    return { caller, words, request, rows };
  }

  /** Finds names among the newest. Takes a second statement for the ways that have more names. */
  async #newest(find: Find): Promise<Names> {
    const { name, sql, params } = foundAmongNewest(find.searcher, find.words, find.query);
    const newest = await this.#db.prepared<NewestRow>(name, sql, params);
    const names = namesOf(newest);
    const [whole, cut] = [newest.filter(({ read }) => read < NEWEST_MAX), newest.filter(({ read }) => read >= NEWEST_MAX)];
    if (cut.length === 0 || names.lines.length === RANKED_MAX) return names;
    const ways = cut.map(({ way }) => way);
    const { lines } = await this.#beyondNewest(find, ways);
    return { lines: [...namesOf(whole).lines, ...lines].slice(0, RANKED_MAX), words: names.words };
  }

  /** Finds names by the index. Where they are few, the searcher's next search does without the newest. */
  async #beyondNewest(find: Find, ways?: readonly Way[]): Promise<Names> {
    const names = await this.#indexed(find, ways);
    this.#beyond.note(find.searcher.userId, names.lines.length < RANKED_MAX);
    return names;
  }

  /** Finds names in all ways, or in these. */
  async #indexed({ searcher, words, query }: Find, ways?: readonly Way[]): Promise<Names> {
    const { sql, params } = foundNames(searcher, words, query, ways);
    return namesOf(await this.#db.query<NamesRow>(sql, params));
  }

  async #requireFolder(caller: Caller, id: string): Promise<void> {
    const folder = await findFolder(this.#db.tables, id);
    if (!folder) throw new Problem('not_found');
    requireLevel(levelOn('folder', caller, folder), 'read');
  }

  /** Returns the files that the caller may read still, by their ids. */
  async #files(of: Found, isAgain: boolean): Promise<ReadonlyMap<number, { readonly fields: string; readonly name: string }>> {
    const files = new Map<number, { readonly fields: string; readonly name: string }>();
    const { tables } = this.#db;
    const ids = idsOf('file', of);
    const unknown = isAgain ? [] : ids;
    const stamps = isAgain ? await listedRows<PageRow<NamedStamp>>(tables, ids, 'stamps') : [];
    for (const { row, around } of readable(of.caller, stamps)) {
      const fields = this.#texts.known(of.caller, row, around);
      if (fields === undefined) unknown.push(row.id);
      else files.set(row.id, { fields, name: row.name });
    }
    const rows = await listedRows<PageRow>(tables, unknown, 'all');
    for (const { row, around } of readable(of.caller, rows))
      files.set(row.id, { fields: this.#texts.of(of.caller, row, around), name: row.name });
    return files;
  }

  async #folders(found: Found): Promise<ReadonlyMap<number, FolderRecord>> {
    return new Map((await foldersById(this.#db.tables, idsOf('folder', found))).map((folder) => [folder.id, folder]));
  }
}

/** What is to be found. */
interface Find {
  readonly searcher: Searcher;
  readonly words: readonly string[];
  readonly query: SearchQuery;
}

interface Names {
  /** At most 1,000. */
  readonly lines: readonly string[];
  readonly words: readonly string[];
}

const namesOf = (rows: readonly NamesRow[]): Names => ({
  lines: rows.flatMap(({ found }) => found?.split('\n') ?? []).slice(0, RANKED_MAX),
  words: rows[0]?.words ?? [],
});

/** What a batch knows of a result. */
type Hit = ({ readonly type: 'file' } & FileView) | ({ readonly type: 'folder' } & FolderView);

type NamedStamp = Stamp & Pick<ListedFile, 'name'>;

const idsOf = (kind: 'file' | 'folder', { request, rows }: Found): number[] =>
  rows
    .slice(0, request.limit)
    .filter(({ id }) => id % 2 === (kind === 'file' ? 0 : 1))
    .map(({ id }) => Math.floor(id / 2));

const rankOf = (score: number, words: readonly string[]): number =>
  Math.round((score * 10_000) / (SCORE_MAX * words.length)) / 10_000;

/** Returns the files that the caller may read still: what was found may have been deleted or moved since. */
function readable<Row extends PageRow<Stamp>>(
  caller: Caller,
  rows: readonly Row[],
): { readonly row: Row; readonly around: Surroundings }[] {
  const all = surroundingsOf(rows);
  return rows
    .map((row, at) => ({ row, around: all[at] as Surroundings }))
    .filter(({ row, around }) => isReadable('file', caller, { ...row, ancestors: around.ancestors }));
}

const isReadable = (kind: 'file' | 'folder', caller: Caller, item: Resource & { readonly deletedAt: unknown }): boolean =>
  item.deletedAt === null && levelOn(kind, caller, item) !== null;

/** Returns the page of what is shown of each; undefined: nothing, since it was deleted or moved since it was found. */
function pageOf<T>({ request, rows }: Found, present: (row: FoundRow) => T | undefined): Page<T> {
  const { data, pagination } = page(request, rows, present, ({ values }) => values());
  return { data: data.filter((item) => item !== undefined), pagination };
}
