import type { Client } from '../../api/client.ts';
import { patiently } from '../../api/patience.ts';
import { useClient } from '../services.ts';
import { useLoaded } from '../use-loaded.ts';

type Names = ReadonlyMap<string, string>;

/** The most that one reply has, and so many replies: 2,000 people. */
const PAGE = 200;
const PAGES_MAX = 10;

/** The names of a course's people by the LMS's ids; undefined until they are read. Whoever is not among them has only an id. */
export function useNames(courseId: string): Names | undefined {
  const client = useClient();
  return useLoaded((signal) => namesOf(client, courseId, signal), [courseId]).value;
}

async function namesOf(client: Client, id: string, signal: AbortSignal): Promise<Names> {
  const names = new Map<string, string>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { limit: PAGE, cursor };
    const { data, pagination } = await patiently(
      () => client.get('/lti/contexts/{id}/members', { path: { id }, query, signal }),
      signal,
    );
    for (const { lms_user_id, name, user } of data) {
      const known = name ?? user?.name;
      if (known) names.set(lms_user_id, known);
    }
    if (pagination.next_cursor === null) break;
    cursor = pagination.next_cursor;
  }
  return names;
}
