import type { Client } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { type Entry, ofFile, ofFolder } from './entry.ts';

/** The entry has another name than the one that the person saw when they began to type. */
export class RenamedElsewhere extends Error {
  override readonly name = 'RenamedElsewhere';
  /** With its name and its entity tag of now. */
  readonly entry: Entry;

  constructor(entry: Entry) {
    super();
    this.entry = entry;
  }
}

/** Gives an entry another name. What was changed elsewhere meanwhile, but for its name, does not stand in the way. */
export async function rename(client: Client, entry: Entry, name: string): Promise<Entry> {
  const path = { id: entry.id };
  const send = async (ifMatch: string | undefined): Promise<Entry> => {
    const options = { path, body: { name }, ifMatch };
    return entry.type === 'folder'
      ? ofFolder(await client.patch('/folders/{id}', options))
      : ofFile(await client.patch('/files/{id}', options));
  };
  try {
    return await send(entry.etag);
  } catch (error) {
    if (!(error instanceof ApiProblem && error.code === 'precondition_failed')) throw error;
    const now =
      entry.type === 'folder'
        ? ofFolder(await client.get('/folders/{id}', { path }))
        : ofFile(await client.get('/files/{id}', { path }));
    if (now.name === name) return now;
    if (now.name !== entry.name) throw new RenamedElsewhere({ ...entry, name: now.name, etag: now.etag });
    return send(now.etag);
  }
}
