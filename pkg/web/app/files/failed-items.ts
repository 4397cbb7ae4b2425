import type { Client } from '../../api/client.ts';
import type { NewToast } from '../../design/toasts.ts';
import { count, t } from '../../text/files-later.ts';
import { errorText } from '../problem-text.ts';
import type { Batch } from './batch.ts';
import type { Entry } from './entry.ts';

/** So many items are named that failed. */
const NAMED = 3;

/** An item that stays as it is, and why. */
export interface Stays {
  readonly name: string;
  readonly reason: string;
  readonly code?: string;
}

interface Ran {
  readonly client: Client;
  /** The batch that could not change all of the entries that it was given. */
  readonly batch: Batch;
  readonly entries: readonly Entry[];
  readonly signal: AbortSignal;
}

/**
 * Returns what a batch says at its end that has failed for some: `text` says for how many. An item that was to be restored by
 * itself, and whose name is taken, is first restored under another name.
 */
export async function restoreOrExplain({ text, failed, ...ran }: Ran & { text: string; failed: number }): Promise<NewToast> {
  const stays = await failuresOf(ran);
  const [only, ...others] = ran.entries;
  const isTaken = ran.batch.kind === 'restore' && stays[0]?.code === 'name_conflict';
  if (only && others.length === 0 && isTaken) return restoreRenamed(ran, only);
  return { text: named(text, failed, stays), tone: 'danger' };
}

/** Returns a text with the first items that stay and the reason of each, and with how many more they are. */
export function named(text: string, failed: number, stays: readonly Stays[]): string {
  const first = stays.slice(0, NAMED).map(({ name, reason }) => t('reason', { name, reason }));
  const others = first.length > 0 && failed > first.length ? [count('andMore', failed - first.length)] : [];
  return [text, ...first, ...others].join(' ');
}

/**
 * Returns the first items that a batch could not change, by the names under which they were listed. Where they cannot be read,
 * it returns those that could: the number still says what happened, and what was done can be undone.
 */
export async function failuresOf({ client, batch, entries, signal }: Ran): Promise<Stays[]> {
  const names = new Map(entries.map(({ id, name }) => [id, name]));
  const stays: Stays[] = [];
  try {
    for (const id of batch.jobs) {
      const query = { state: 'failed', limit: NAMED } as const;
      const { data } = await client.get('/jobs/{id}/items', { path: { id }, query, signal });
      for (const { target, error } of data)
        if (error)
          stays.push({ name: names.get(target.id) ?? target.name ?? '', reason: reasonOf(batch, error), code: error.code });
    }
  } catch {
    // A toast without reasons is better than none.
  }
  return stays;
}

/** The words of a restoration name a way out that the trash has: its list offers no other name and no other folder. */
function reasonOf({ kind }: Batch, error: { readonly code: string; readonly message: string }): string {
  if (kind === 'restore' && error.code === 'conflict') return t('folderInTrash');
  if (kind === 'restore' && error.code === 'name_conflict') return t('restoreTaken');
  return errorText(error);
}

async function restoreRenamed({ client, signal }: Ran, { type, id, name }: Entry): Promise<NewToast> {
  const options = { path: { id }, body: { on_conflict: 'rename' }, signal } as const;
  const restored = await (type === 'folder'
    ? client.post('/folders/{id}/restore', options)
    : client.post('/files/{id}/restore', options));
  return { text: t('restoredAs', { name, other: restored.name }) };
}
