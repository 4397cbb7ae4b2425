import type { Client } from '../../api/client.ts';
import { patiently } from '../../api/patience.ts';
import type { NewToast } from '../../design/toasts.ts';
import { count, t } from '../../text/files-later.ts';
import { linesOf } from '../jobs/lines-of.ts';
import { Batch } from './batch.ts';
import { type Entry, inOwnRoot, isOfUnknownOrigin } from './entry.ts';
import { failuresOf, named, type Stays } from './failed-items.ts';
import { begin, end } from './running.ts';

interface Moved {
  readonly client: Client;
  /** The batch that moved them, and what it was given. */
  readonly batch: Batch;
  readonly entries: readonly Entry[];
  /** It has moved all of them. */
  readonly isWhole: boolean;
}

/**
 * Moves what a batch has moved back to where each item was: `entries` are as they were listed before. Returns what to say: what
 * is back, or what is not and why. Throws ApiProblem if a job could not begin, and what aborted the signal.
 */
export async function putBack({ client, batch, entries, isWhole }: Moved): Promise<NewToast> {
  const moved = isWhole ? entries : await changedBy(client, batch, entries);
  const origins = new Map<string | null, Entry[]>();
  const stays: Stays[] = [];
  for (const entry of moved) {
    const { parentId: origin } = entry;
    if (origin === undefined) stays.push({ name: entry.name, reason: t('originUnknown') });
    else if (origins.get(origin)?.push(entry) === undefined) origins.set(origin, [entry]);
  }
  let [done, failed] = [0, stays.length];
  for (const [origin, items] of origins) {
    const back = new Batch(client, { operation: 'move', arguments: { folder_id: origin, on_conflict: 'fail' } }, items);
    const signal = begin(back, t('puttingBack'));
    try {
      // Things from many folders are many jobs; one that is refused for that has moved nothing.
      const outcome = await patiently(() => back.run(signal), signal);
      done += outcome.done;
      failed += outcome.failed;
      if (outcome.failed > 0) stays.push(...(await failuresOf({ client, batch: back, entries: items, signal })));
      if (outcome.isCanceled) return { text: count('putBackCanceled', done) };
    } finally {
      end(back);
    }
  }
  if (failed === 0) return { text: count('putBack', done) };
  return { text: named(count('notPutBack', failed), failed, stays), tone: 'danger' };
}

/** So many pages of the own root are read, at 200 entries, to learn what is in it. */
const ROOT_PAGES = 5;

/**
 * Returns the entries with where they are, also in the own root: the API names no folder for that, nor for one that the person
 * may not know of. Asked before something is moved; what cannot be read, or is far down in a long root, stays unknown.
 */
export async function withOrigins(client: Client, entries: readonly Entry[], me: string): Promise<readonly Entry[]> {
  const unknown = new Set(entries.filter((entry) => isOfUnknownOrigin(entry, me)).map(({ id }) => id));
  const inRoot = new Set<string>();
  let cursor: string | null | undefined;
  try {
    for (let page = 0; page < ROOT_PAGES && cursor !== null && inRoot.size < unknown.size; page += 1) {
      const query = { sort: 'name', limit: 200, ...(cursor === undefined ? {} : { cursor }) } as const;
      const { data, pagination } = await client.get('/folders/{id}/children', { path: { id: 'root' }, query });
      for (const { id } of data) if (unknown.has(id)) inRoot.add(id);
      cursor = pagination.next_cursor;
    }
  } catch {
    // They are moved all the same.
  }
  return entries.map((entry) => (inRoot.has(entry.id) ? inOwnRoot(entry) : entry));
}

/** Returns the entries that a batch has changed: it was canceled, or could not change all of them. */
export async function changedBy(client: Client, batch: Batch, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const changed = new Set<string>();
  for (const id of batch.jobs) {
    const headers = { accept: 'application/x-ndjson' };
    const reply = await client.send('GET', '/jobs/{id}/items', { path: { id }, query: { state: 'succeeded' }, headers });
    for await (const line of linesOf(reply)) changed.add((JSON.parse(line) as { target: { id: string } }).target.id);
  }
  return entries.filter(({ id }) => changed.has(id));
}
