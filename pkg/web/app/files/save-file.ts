import type { Client } from '../../api/client.ts';
import type { Entry } from './entry.ts';

/** Lets the browser save a file, or a folder as an archive, by a link of one minute: the browser streams it. */
export async function saveFile(client: Client, { id, type }: Pick<Entry, 'id' | 'type'>): Promise<void> {
  const path = { id };
  const { url } = await (type === 'folder'
    ? client.post('/folders/{id}/ticket', { path })
    : client.post('/files/{id}/ticket', { path }));
  saveLink(url);
}

/** Lets the browser save a version of a file, in the same way. */
export async function saveVersion(client: Client, id: string, number: number): Promise<void> {
  saveLink((await client.post('/files/{id}/versions/{number}/ticket', { path: { id, number } })).url);
}

/** Lets the browser save what a link of the API gives, under the name that the API says. */
export function saveLink(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
