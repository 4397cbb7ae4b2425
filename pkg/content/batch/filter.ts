import type { Actor } from '../../api/actor.ts';
import type { FileLists } from '../lists/file-lists.service.ts';
import type { Search } from '../search/search.service.ts';
import type { BatchFilter, BatchItem } from './batch.schema.ts';

/** A file or folder that a filter matches, with its name and the number of folders above it that the actor may see. */
export interface Match extends BatchItem {
  readonly name: string;
  readonly depth: number;
}

/** The lists that a filter names. */
export interface ListsOfFilter {
  readonly files: Pick<FileLists, 'list'>;
  readonly search: Pick<Search, 'find'>;
}

/**
 * Returns a page of a filter's matches in the order of their creation, so that concurrent changes hide none; or the results of a
 * search for words, best first. Throws `not_found` for a folder that the actor may not see.
 */
export async function filterPage(
  { files, search }: ListsOfFilter,
  actor: Actor,
  filter: BatchFilter,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ matches: Match[]; next: string | null }> {
  if (filter.search === true) {
    const { search: _, ...query } = filter;
    const { data, pagination } = await search.find(actor, { ...query, ...page }, 'created');
    return {
      matches: data.map(({ type, id, name, path }) => ({ type, id, name, depth: depthOf(path) })),
      next: pagination.next_cursor,
    };
  }
  const { search: _, ...query } = filter;
  const { data, pagination } = await files.list(actor, { ...query, ...page, sort: 'created_at' });
  return {
    matches: data.map(({ id, name, path }) => ({ type: 'file', id, name, depth: depthOf(path) })),
    next: pagination.next_cursor,
  };
}

const depthOf = (path: string): number => path.split('/').length - 2;
