import type { Actor } from '../../api/actor.ts';
import { type Page, page, pageRequest } from '../../api/paging.ts';
import { Problem } from '../../api/problem.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { CacheLookup } from '../../store/redis/tagged-cache.ts';
import { grantedAtLeast } from '../model/access/inherited-access.policy.ts';
import type { Files } from '../model/files/files.service.ts';
import type { ListedFile } from '../model/files/files.sql.ts';
import { fileSeenBy, presentFile } from '../model/files/files.view.ts';
import type { Include } from './file-includes.schema.ts';
import { includedEtag, includedFields } from './file-includes.view.ts';
import type { FileQuery, FileWithIncludes } from './file-list.schema.ts';
import { FILES, fileList, filesOf, type PageRow } from './file-list.sql.ts';

/** Shows files, one or a page of them, with the fields that a request includes. */
export class FileLists {
  readonly #db: Database;
  readonly #files: Files;

  constructor(deps: { db: Database; files: Files }) {
    this.#db = deps.db;
    this.#files = deps.files;
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
    const request = pageRequest(query, FILES.order);
    const wanted = query.trashed ? 'write' : 'read';
    const caller = { actor, granted: await actor.permissionSet() };
    const { sql, params, name } = fileList(
      { userId: actor.userId, ...grantedAtLeast(caller.granted, wanted), known: grantedAtLeast(caller.granted, 'read').folders },
      query,
      request,
    );
    const rows = await (name === undefined
      ? this.#db.query<PageRow>(sql, params)
      : this.#db.prepared<PageRow>(name, sql, params));
    if (rows.length === 0 && query.folder_id !== undefined && query.folder_id !== 'root') throw new Problem('not_found');
    const found = rows.filter(({ id }) => id !== null);
    const files = filesOf(found);
    const fields = query.include && (await includedFields(this.#db, caller, files.slice(0, request.limit), query.include));
    return page(
      request,
      found,
      (row, at) => ({ ...presentFile(fileSeenBy(caller, files[at] as ListedFile)), ...fields?.get(row.id) }),
      (row) => FILES.valuesOf(request, row),
      fields?.size,
    );
  }
}
