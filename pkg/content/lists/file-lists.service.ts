import type { Actor } from '../../api/actor.ts';
import { JsonText } from '../../api/json-text.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeysetRequest } from '../../store/postgres/keyset.ts';
import type { CacheLookup } from '../../store/redis/tagged-cache.ts';
import type { Caller } from '../model/access/caller.ts';
import type { Viewer } from '../model/access/viewer.ts';
import { grantedAtLeast } from '../model/access/inherited-access.policy.ts';
import type { Files } from '../model/files/files.service.ts';
import type { FileTexts } from '../model/files/file-texts.ts';
import type { ListedFile, ListedRow, Stamp, Surroundings } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import type { Include } from './file-includes.schema.ts';
import { includedEtag, includedFields } from './file-includes.view.ts';
import type { FileQuery, FileWithIncludes } from './file-list.schema.ts';
import type { BeyondNewest } from './beyond-newest.ts';
import { namedAmongNewest, type NewestRow } from './newest-files.sql.ts';
import { FILES, fileList, type FileSort, filesOf, isUsual, type PageRow, surroundingsOf } from './file-list.sql.ts';

/** Shows files, one or a page of them, with the fields that a request includes. */
export class FileLists {
  readonly #db: Database;
  readonly #files: Files;
  readonly #texts: FileTexts;
  readonly #beyond: BeyondNewest;

  constructor(deps: { db: Database; files: Files; fileTexts: FileTexts; beyondNewest: BeyondNewest }) {
    this.#db = deps.db;
    this.#files = deps.files;
    this.#texts = deps.fileTexts;
    this.#beyond = deps.beyondNewest;
  }

  /**
   * Returns a file that the actor may read, with the fields that `include` names, and the entity tag of all of it. Costs what
   * `Files.read` costs; `include` costs one statement more. Throws `not_found`.
   */
  async show(
    actor: Actor,
    id: string,
    { include, found }: { readonly include?: readonly Include[] | undefined; readonly found?: CacheLookup },
  ): Promise<{ file: FileWithIncludes; etag: string }> {
    const seen = await this.#files.read(actor, id, found);
    const file = presentFile(seen);
    if (include === undefined) return { file, etag: file.etag };
    const caller = { actor, granted: await actor.permissionSet() };
    const fields = (await includedFields(this.#db, caller, [seen], include)).get(seen.id) ?? {};
    return { file: { ...file, ...fields }, etag: includedEtag(file, fields) };
  }

  /**
   * Lists the files that the actor may see; in the trash those that they may write. Takes one statement, and one more with
   * `include`.
   */
  async list(actor: Actor, query: FileQuery): Promise<Page<FileWithIncludes>> {
    const asked = await askedBy(actor, query);
    const rows = await this.#rows<PageRow>(asked, 'all');
    const files = filesOf(rows);
    const { request, caller } = asked;
    const fields = query.include && (await includedFields(this.#db, caller, files.slice(0, request.limit), query.include));
    return page(
      request,
      rows,
      (row, at) => ({ ...presentFile(fileSeenBy(caller, files[at] as ListedFile)), ...fields?.get(row.id) }),
      (row) => FILES.valuesOf(request, row),
      fields?.size,
    );
  }

  /**
   * Lists the same in JSON. A page that was asked for before, in the usual order, is read by few columns, and takes a second
   * statement where a file has changed since, or is new here. A part of a name takes one more where it is looked for beyond the
   * newest files.
   */
  async listAsJson(actor: Actor, query: FileQuery): Promise<Page<FileWithIncludes | JsonText>> {
    if (query.include !== undefined) return this.list(actor, query);
    const asked = await askedBy(actor, query);
    const { caller, request } = asked;
    const stamps = await this.#stamps(asked);
    if (stamps) {
      const around = surroundingsOf(stamps);
      const known = stamps.slice(0, request.limit).map((row, at) => this.#texts.known(caller, row, around[at] as Surroundings));
      if (!known.includes(undefined)) return pageOf(request, stamps as readonly PageRow[], (at) => known[at] as string);
    }
    const rows = await this.#wholeRows(asked);
    const around = surroundingsOf(rows);
    return pageOf(request, rows, (at) => this.#texts.of(caller, rows[at] as PageRow, around[at] as Surroundings));
  }

  /** Returns the stamps of a page that was asked for before, if it is in the usual order. */
  async #stamps(asked: Asked): Promise<readonly PageRow<Stamp>[] | undefined> {
    const { viewer, query } = asked;
    const { q, cursor, folder_id: folderId, limit, ...others } = query;
    if (!isUsual(others) || !this.#texts.wasAskedFor('files', viewer.userId, folderId, q, cursor, limit)) return undefined;
    return q === undefined ? this.#rows<PageRow<Stamp>>(asked, 'stamps') : this.#amongNewest<Stamp>(asked, 'stamps');
  }

  async #wholeRows(asked: Asked): Promise<readonly PageRow[]> {
    const newest = await this.#amongNewest<ListedRow>(asked, 'all');
    if (newest) return newest;
    const rows = await this.#rows<PageRow>(asked, 'all');
    const { viewer, query, request } = asked;
    if (query.q !== undefined && rows.length > request.limit) this.#beyond.note(viewer.userId, false);
    return rows;
  }

  /** Returns the rows of the first page of a part of a name alone; undefined: it is another page, or not of the newest files. */
  async #amongNewest<Row extends Stamp>(
    { viewer, query, request }: Asked,
    read: 'all' | 'stamps',
  ): Promise<readonly PageRow<Row>[] | undefined> {
    const { q, cursor, folder_id: folderId, limit: _, ...others } = query;
    const isOfAll = cursor === undefined && folderId === undefined && isUsual(others);
    if (q === undefined || !isOfAll || this.#beyond.has(viewer.userId)) return undefined;
    const { name, sql, params } = namedAmongNewest(viewer, q, request, read);
    const rows = await this.#db.prepared<NewestRow<Row>>(name, sql, params);
    const isWhole = rows[0]?.isWhole === true;
    if (!isWhole) this.#beyond.note(viewer.userId, true);
    return isWhole ? rows.filter(({ id }) => id !== null) : undefined;
  }

  /** Returns the rows of a page and one more. Throws `not_found` for a folder that the actor may not see. */
  async #rows<Row extends PageRow<Stamp>>({ viewer, query, request }: Asked, read: 'all' | 'stamps'): Promise<readonly Row[]> {
    const { sql, params, name } = fileList(viewer, query, request, read);
    const rows = await (name === undefined ? this.#db.query<Row>(sql, params) : this.#db.prepared<Row>(name, sql, params));
    if (rows.length === 0 && query.folder_id !== undefined && query.folder_id !== 'root') throw new Problem('not_found');
    return rows.filter(({ id }) => id !== null);
  }
}

/** A page that somebody asks for. */
interface Asked {
  readonly caller: Caller;
  readonly viewer: Viewer;
  readonly query: FileQuery;
  readonly request: KeysetRequest<FileSort>;
}

async function askedBy(actor: Actor, query: FileQuery): Promise<Asked> {
  const granted = await actor.permissionSet();
  const seen = grantedAtLeast(granted, query.trashed ? 'write' : 'read');
  const viewer = { userId: actor.userId, ...seen, known: grantedAtLeast(granted, 'read').folders };
  return { caller: { actor, granted }, viewer, query, request: pageRequest(query, FILES.order) };
}

/** `rows`: with the fields of the order at least. */
const pageOf = (request: KeysetRequest<FileSort>, rows: readonly PageRow[], fieldsOf: (at: number) => string): Page<JsonText> =>
  page(
    request,
    rows,
    (_row, at) => new JsonText(`{${fieldsOf(at)}}`),
    (row) => FILES.valuesOf(request, row),
  );
