import type { Client } from '../../api/client.ts';
import type { Access, Permission } from '../../api/operations.generated.ts';
import { patiently } from '../../api/patience.ts';
import type { Entry } from '../files/entry.ts';
import { grantsOf } from './grants.ts';

/** More people are not listed: who has access then follows from a group or a folder. */
const PEOPLE_MAX = 1_000;

export interface WhoHasAccess {
  readonly people: readonly Access[];
  readonly grants: readonly Permission[];
  /** There are more than these. */
  readonly isMore: boolean;
}

/** Reads who has access to a file or folder, and by which grants. */
export async function readAccess(client: Client, entry: Entry, signal: AbortSignal): Promise<WhoHasAccess> {
  const of = grantsOf(client, entry);
  const [people, grants] = await Promise.all([
    pages((cursor) => of.people(cursor, signal), signal),
    pages((cursor) => of.list(cursor, signal), signal),
  ]);
  return { people: people.rows, grants: grants.rows, isMore: people.isMore || grants.isMore };
}

interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly next_cursor: string | null };
}

async function pages<T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly T[]; readonly isMore: boolean }> {
  const rows: T[] = [];
  let cursor: string | undefined;
  do {
    // Each page by itself: what has arrived is not read again.
    const from = cursor;
    const { data, pagination } = await patiently(() => load(from), signal);
    rows.push(...data);
    cursor = pagination.next_cursor ?? undefined;
  } while (cursor !== undefined && rows.length < PEOPLE_MAX);
  return { rows, isMore: cursor !== undefined };
}
