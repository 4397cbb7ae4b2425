import type { Client } from '../../api/client.ts';
import type { Folder } from '../../api/operations.generated.ts';

/** Returns the folder and those above it that the reader may see, the highest first; none for the root. */
export async function wayTo(client: Client, id: string, signal: AbortSignal): Promise<readonly Folder[]> {
  if (id === 'root') return [];
  const { data } = await client.get('/folders/{id}/path', { path: { id }, signal });
  return data;
}
