import type { Client } from '../../api/client.ts';
import type { Folder } from '../../api/operations.generated.ts';

/** Returns the folder and those above it that the reader may see, the highest first; none for the root. */
export async function wayTo(client: Client, id: string, signal: AbortSignal): Promise<readonly Folder[]> {
  const way: Folder[] = [];
  for (let next = id === 'root' ? null : id; next !== null; next = way[0]?.parent_id ?? null)
    way.unshift(await client.get('/folders/{id}', { path: { id: next }, signal }));
  return way;
}
