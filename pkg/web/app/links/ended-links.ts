import type { Client } from '../../api/client.ts';
import type { Share } from '../../api/operations.generated.ts';
import { patiently } from '../../api/patience.ts';
import { type ApiProblem, isAbort, problemOf } from '../../api/problem.ts';
import { hasEnded } from '../sharing/link-terms.ts';

const PAGE = 200;

/** Reads all links of a person, or those that a search finds, and returns those that have ended. */
export async function endedLinks(
  client: Client,
  { owner, q }: { readonly owner: string; readonly q: string | undefined },
  signal: AbortSignal,
): Promise<readonly Share[]> {
  const ended: Share[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, cursor, owner, q };
    const { data, pagination } = await patiently(() => client.get('/shares', { query, signal }), signal);
    ended.push(...data.filter((link) => hasEnded(link, new Date())));
    cursor = pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return ended;
}

interface Outcome {
  readonly deleted: number;
  /** Somebody has changed these meanwhile: they may work again. */
  readonly changed: number;
  /** Why the others were not deleted. */
  readonly problem?: ApiProblem;
  readonly left: readonly Share[];
}

/** Deletes links as they were read, one after the other, and stops where one is refused. One that is gone counts as deleted. */
export async function deleteLinks(
  client: Client,
  links: readonly Share[],
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<Outcome> {
  let changed = 0;
  for (const [at, { id, etag }] of links.entries()) {
    try {
      await patiently(() => client.delete('/shares/{id}', { path: { id }, ifMatch: etag, signal }), signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      const problem = problemOf(error);
      if (problem.code === 'precondition_failed') changed += 1;
      else if (problem.code !== 'not_found') return { deleted: at - changed, changed, problem, left: links.slice(at) };
    }
    onProgress(at + 1);
  }
  return { deleted: links.length - changed, changed, left: [] };
}
