import type { Client } from '../../../api/client.ts';
import { patiently } from '../../../api/patience.ts';
import type { Entry } from '../entry.ts';

const PAGE = 200;

/** Returns those of the files that have the tag: to take it from another is nothing, and to undo that gives it to that one. */
export async function withTag(client: Client, files: readonly Entry[], tagId: string): Promise<Entry[]> {
  const { signal } = new AbortController();
  const tagged = new Set<string>();
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { tag: [tagId], limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const { data, pagination } = await patiently(() => client.get('/files', { query, signal }), signal);
    for (const { id } of data) tagged.add(id);
    cursor = pagination.next_cursor;
  }
  return files.filter(({ id }) => tagged.has(id));
}
