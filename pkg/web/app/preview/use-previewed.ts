import { useState } from 'preact/hooks';
import type { ApiProblem } from '../../api/problem.ts';
import { type Entry, ofFile } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';

interface Previewed {
  readonly entry: Entry | undefined;
  /** The files between which one goes back and forth, in their order. */
  readonly files: readonly Entry[];
  readonly problem: ApiProblem | undefined;
  readonly reload: () => void;
}

/** The most that the API gives at once. */
const SIBLINGS_MAX = 200;

/** Returns the shown file. One that no list has is loaded, with the files of its folder as its list. */
export function usePreviewed(id: string, listed: readonly Entry[]): Previewed {
  const client = useClient();
  const [loaded, setLoaded] = useState<readonly Entry[]>([]);
  const files = listed.some((file) => file.id === id) ? listed : loaded;
  const entry = files.find((file) => file.id === id);

  const { problem, reload } = useLoaded(
    async (signal) => {
      if (entry) return;
      const file = ofFile(await client.get('/files/{id}', { path: { id }, signal }));
      setLoaded([file]);
      const query = { folder_id: file.parentId ?? 'root', sort: 'name' as const, limit: SIBLINGS_MAX };
      const { data } = await client.get('/files', { query, signal });
      const siblings = data.map(ofFile);
      // A file that somebody shares is in none of the reader's folders.
      if (siblings.some((sibling) => sibling.id === id)) setLoaded(siblings);
    },
    [id],
  );
  return { entry, files, problem: entry ? undefined : problem, reload };
}
