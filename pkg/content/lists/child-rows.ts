import { pageRequest } from '../../api/paging.ts';
import type { Uuid } from '../../api/schemas.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeysetRequest, Statement } from '../../store/postgres/keyset.ts';
import type { ChildQuery } from '../model/folders/folders.schema.ts';
import type { Stamp } from '../model/files/files.sql.ts';
import type { FolderRecord } from '../model/folders/folders.sql.ts';
import {
  type ChildFile,
  CHILDREN,
  type ChildSort,
  filesIn,
  folderAndFolders,
  foldersInRoot,
  type Location,
} from './folder-list.sql.ts';

type ChildRowsQuery = Pick<ChildQuery, 'limit' | 'cursor' | 'sort' | 'q'>;

/** The parent: a person's root, or a folder. `read`: returns the live folder of that id; throws where there is none to read. */
type Parent =
  | { readonly ownerId: number }
  | { readonly id: Uuid; readonly read: (row: FolderRecord | undefined) => FolderRecord };

/** Returns what the caller knows of a file in this folder; undefined: the file is not as it was. */
export type Known = (file: ChildFile<Stamp>, folder: FolderRecord | null) => string | undefined;

/**
 * Returns the rows of a page of children: folders first, then files. Takes at most two statements, and one where the page has
 * folders alone, or in a root files alone. Throws what `read` throws.
 *
 * With `known`, a page in the usual order reads the stamps of its files first. `texts`: what is known of them, in their order;
 * without it something is unknown, and their whole rows took one statement more.
 */
export async function childRows(db: Database, parent: Parent, query: ChildRowsQuery, known?: Known) {
  const request = childRequest(query);
  const where = 'id' in parent ? 'folder' : 'root';
  // The usual order without filters is prepared: planning takes longer than the page.
  const isUsual = query.q === undefined && query.sort === undefined;
  const run = <Row>(kind: string, of: KeysetRequest<ChildSort> | null, { sql, params }: Statement): Promise<Row[]> => {
    if (!isUsual) return db.query<Row>(sql, params);
    const part = of === null ? 'none' : of.after ? 'next' : 'first';
    return db.prepared<Row>(`content-children-${where}-${kind}-${part}`, sql, params);
  };
  const of = request.folders;
  const filesAfter = async (folders: number, folder: FolderRecord | null, location: Location): Promise<Files> => {
    const missing = request.limit + 1 - folders;
    if (missing <= 0) return { files: [] };
    const rest = request.files(missing);
    if (known && isUsual) {
      const stamps = await run<ChildFile<Stamp>>('stamps', rest, filesIn(location, query.q, rest, 'stamps'));
      const texts = stamps.slice(0, missing - 1).map((file) => known(file, folder));
      if (!texts.includes(undefined)) return { files: stamps as ChildFile[], texts: texts as string[] };
    }
    return { files: await run<ChildFile>('files', rest, filesIn(location, query.q, rest)) };
  };
  if ('id' in parent) {
    const [itself, ...folders] = await run<FolderRecord>('folders', of, folderAndFolders(parent.id, query.q, of));
    const folder = parent.read(itself);
    return { request, folder, folders, ...(await filesAfter(folders.length, folder, { folderId: folder.id })) };
  }
  const { ownerId } = parent;
  const folders = of === null ? [] : await run<FolderRecord>('folders', of, foldersInRoot(ownerId, query.q, of));
  return { request, folder: null, folders, ...(await filesAfter(folders.length, null, { ownerId })) };
}

/** With `texts`, the rows have the columns of a Stamp and of the order alone. */
interface Files {
  readonly files: readonly ChildFile[];
  readonly texts?: readonly string[];
}

/** Folders come before files, in whatever order each is. */
export const KINDS = { folder: 0, file: 1 } as const;

/**
 * Returns what a page of children reads of the folders (null: nothing, the previous page ended among the files) and of the
 * files.
 */
function childRequest(query: ChildRowsQuery) {
  const { fields, fallback, tieBreaker } = CHILDREN.order;
  const order = { fields: ['kind', ...fields], fallback, tieBreaker } as const;
  const request = pageRequest({ ...query, sort: `kind,${query.sort ?? fallback}` }, order);
  const [kind, ...after] = request.after ?? [];
  const sort = request.sort.slice(1) as KeysetRequest<ChildSort>['sort'];
  const inner: KeysetRequest<ChildSort> = { limit: request.limit, sort, after: undefined };
  return {
    page: request,
    inner,
    limit: request.limit,
    folders: kind === KINDS.file ? null : { ...inner, after: kind === KINDS.folder ? after : undefined },
    files: (rows: number) => ({ ...inner, limit: rows - 1, after: kind === KINDS.file ? after : undefined }),
  };
}
