import type { Client, Tagged } from '../../api/client.ts';
import { patiently } from '../../api/patience.ts';
import type { Page } from '../../design/grid/lazy-rows.ts';
import { type Entry, entryOf, inOwnRoot, ofFile, ofFolder } from './entry.ts';

/** As the API takes it: `name`, `-updated_at`. Folders have no size, and are then in the order of their names. */
export type Sort = 'name' | '-name' | 'updated_at' | '-updated_at' | 'size,name' | '-size,name';

export interface ReadOptions {
  readonly cursor?: string | undefined;
  /** The entity tag of the page as it is known. */
  readonly known?: string | undefined;
  readonly signal: AbortSignal;
}

/** A list of entries that is read page by page. */
export interface Source {
  /** Two sources with the same key show the same list. */
  readonly key: string;
  /** What its rows are in, in whichever order. Without it, only lists with the same key show the same. */
  readonly location?: string | undefined;
  /** Returns undefined if the page has not changed since `known`. */
  readonly page: (options: ReadOptions) => Promise<Tagged<Page<Entry>> | undefined>;
  /** The last rows, the last one first, or undefined if they have not changed since `known`. Without it: no opposite order. */
  readonly end?: ((options: Omit<ReadOptions, 'cursor'>) => Promise<Tagged<readonly Entry[]> | undefined>) | undefined;
}

/** The most that the API gives. */
const PAGE = 200;

interface List<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly next_cursor: string | null };
}

const paged = <Row>({ body, etag }: Tagged<List<Row>>, entry: (row: Row) => Entry): Tagged<Page<Entry>> => ({
  body: { rows: body.data.map(entry), next: body.pagination.next_cursor },
  etag,
});

const lastOf = <Row>(read: Tagged<List<Row>>, entry: (row: Row) => Entry): Tagged<readonly Entry[]> => ({
  body: read.body.data.map(entry),
  etag: read.etag,
});

/** Waits where there were too many requests: a long list is many pages. */
const patient = ({ page, end, ...source }: Source): Source => ({
  ...source,
  page: (options) => patiently(() => page(options), options.signal),
  end: end && ((options) => patiently(() => end(options), options.signal)),
});

const reversed = (sort: Sort): string =>
  sort
    .split(',')
    .map((key) => (key.startsWith('-') ? key.slice(1) : `-${key}`))
    .join(',');

/** What is in a folder: folders first, then files. `root` is the reader's own. */
export function folderSource(client: Client, id: string, sort: Sort): Source {
  const listed = <Row>(entry: (row: Row) => Entry): ((row: Row) => Entry) =>
    id === 'root' ? (row) => inOwnRoot(entry(row)) : entry;
  return patient({
    key: `folder ${id} ${sort}`,
    location: `folder ${id}`,
    page: async ({ cursor, known, signal }) => {
      const query = { sort, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const read = await client.getIfChanged('/folders/{id}/children', { path: { id }, query, signal }, known);
      return read && paged(read, listed(entryOf));
    },
    // Files come last, so the last rows are the first files of the opposite order. Without a file the folders are. An entity tag
    // is of the content, so one of folders is never that of files.
    end: async ({ known, signal }) => {
      const query = { sort: reversed(sort), limit: PAGE };
      const files = await client.getIfChanged('/files', { query: { ...query, folder_id: id }, signal }, known);
      if (!files || files.body.data.length > 0) return files && lastOf(files, listed(ofFile));
      const folders = await client.getIfChanged('/folders/{id}/children', { path: { id }, query, signal }, known);
      return folders && lastOf(folders, listed(entryOf));
    },
  });
}

/** The folders in a folder, by name. */
export const subfolderSource = (client: Client, id: string): Source =>
  patient({
    key: `folders ${id}`,
    page: async ({ cursor, known, signal }) => {
      const query = { parent_id: id, sort: 'name', limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const read = await client.getIfChanged('/folders', { query, signal }, known);
      return read && paged(read, ofFolder);
    },
  });

/** All files that the reader may see, the last changed first. */
export const recentSource = (client: Client): Source =>
  patient({
    key: 'recent',
    page: async ({ cursor, known, signal }) => {
      const query = { sort: '-updated_at', limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const read = await client.getIfChanged('/files', { query, signal }, known);
      return read && paged(read, ofFile);
    },
  });

/** What others share with the reader. */
export const sharedSource = (client: Client): Source =>
  patient({
    key: 'shared',
    page: async ({ cursor, known, signal }) => {
      const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const read = await client.getIfChanged('/shared-with-me', { query, signal }, known);
      return read && paged(read, entryOf);
    },
  });

/** What the reader has deleted and may restore. */
export const trashSource = (client: Client): Source =>
  patient({
    key: 'trash',
    page: async ({ cursor, known, signal }) => {
      const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
      const read = await client.getIfChanged('/trash', { query, signal }, known);
      return (
        read &&
        paged(read, (item) => ({
          type: item.type,
          id: item.id,
          name: item.name,
          path: item.path,
          owner: item.owner,
          time: item.deleted_at,
          size: item.size,
          mimeType: null,
          expiresAt: item.expires_at,
        }))
      );
    },
  });

/** The filters of a search, as the API names them. */
export interface SearchQuery {
  readonly q?: string | undefined;
  readonly type?: 'file' | 'folder' | undefined;
  readonly folder_id?: string | undefined;
  readonly mime_type?: string | undefined;
  readonly tag?: string | undefined;
  readonly owner?: string | undefined;
  readonly created_after?: string | undefined;
}

/** What a search finds: the best first, without words the last changed first. A search for nothing asks for nothing. */
export function searchSource(client: Client, search: SearchQuery): Source {
  const given = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ''));
  if (Object.keys(given).length === 0) return NOTHING;
  return patient({
    key: `search ${JSON.stringify(given)}`,
    page: async ({ cursor, known, signal }) => {
      const query = { limit: 50, ...given, ...(cursor === undefined ? {} : { cursor }) };
      const read = await client.getIfChanged('/search', { query, signal }, known);
      return read && paged(read, entryOf);
    },
  });
}

/** A list without rows, which never changes. */
export const NOTHING: Source = {
  key: 'nothing',
  page: async ({ known }) => (known === undefined ? { body: { rows: [], next: null }, etag: 'nothing' } : undefined),
};
