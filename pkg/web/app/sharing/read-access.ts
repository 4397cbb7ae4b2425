import type { Client } from '../../api/client.ts';
import type { Access, Permission } from '../../api/operations.generated.ts';
import { patiently } from '../../api/patience.ts';
import type { Entry } from '../files/entry.ts';
import { grantsOf } from './grants.ts';

/** So many pages are read at once. Whoever has more people to look through asks for more. */
const PAGES_AT_ONCE = 5;

export interface WhoHasAccess {
  readonly people: readonly Access[];
  readonly grants: readonly Permission[];
  /** There are more than these. */
  readonly isMore: boolean;
}

/** Reads who has access to a file or folder, and by which grants. `rounds`: how often somebody has asked for more, and once. */
export async function readAccess(client: Client, entry: Entry, rounds: number, signal: AbortSignal): Promise<WhoHasAccess> {
  const of = grantsOf(client, entry);
  const most = rounds * PAGES_AT_ONCE;
  const [people, grants] = await Promise.all([
    pages((cursor) => of.people(cursor, signal), most, signal),
    pages((cursor) => of.list(cursor, signal), most, signal),
  ]);
  return { people: people.rows, grants: grants.rows, isMore: people.isMore || grants.isMore };
}

interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly next_cursor: string | null };
}

async function pages<T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly T[]; readonly isMore: boolean }> {
  const rows: T[] = [];
  let cursor: string | undefined;
  let read = 0;
  do {
    // Each page by itself: what has arrived is not read again.
    const from = cursor;
    const { data, pagination } = await patiently(() => load(from), signal);
    rows.push(...data);
    cursor = pagination.next_cursor ?? undefined;
    read += 1;
  } while (cursor !== undefined && read < most);
  return { rows, isMore: cursor !== undefined };
}
