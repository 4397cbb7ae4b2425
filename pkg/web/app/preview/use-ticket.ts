import { useClient } from '../services.ts';
import { type Loaded, useLoaded } from '../use-loaded.ts';

/** Asks for an address of one minute that needs no token: what `<img>`, `<audio>` and `<video>` load, which send none. */
export function useTicket(id: string): Loaded<string> {
  const client = useClient();
  return useLoaded(async (signal) => (await client.post('/files/{id}/ticket', { path: { id }, signal })).url, [id]);
}
