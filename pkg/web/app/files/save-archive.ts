import type { Client } from '../../api/client.ts';
import { newId } from '../../api/new-id.ts';
import { Observed } from '../../api/observed.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { NewToast } from '../../design/toasts.ts';
import { count, t } from '../../text/files-later.ts';
import { followJob } from '../jobs/follow-job.ts';
import { errorText } from '../problem-text.ts';
import type { BatchProgress, Work } from './batch.ts';
import type { Entry } from './entry.ts';
import { begin, end } from './running.ts';
import { saveLink } from './save-file.ts';

/** The most that one export takes. */
const ITEMS_MAX = 1_000;
/** Characters, as the API counts them: code points, of which none is cut in two. */
const NAME_MAX = 200;

/**
 * Has the server pack files and folders into one archive, shows that it does, and lets the browser save it. The archive is a job
 * too, whose page gives it for a day. `title`: of the list from which they are. Returns what to say. Throws ApiProblem if the job
 * could not be followed, and what aborted the signal.
 */
export async function saveArchive(client: Client, entries: readonly Entry[], title: string): Promise<NewToast> {
  if (entries.length > ITEMS_MAX) return { tone: 'danger', text: t('tooManyToPack', { max: ITEMS_MAX }) };
  const name = archiveName(title);
  const work = new Packing(client);
  const signal = begin(work, count('packing', entries.length));
  try {
    const items = entries.map(({ type, id }) => ({ type, id }));
    const { id } = await client.post('/exports', { body: { items, name }, signal, idempotencyKey: newId() });
    work.begun(id);
    const job = await followJob(client, id, () => undefined, signal);
    if (job.error) return { tone: 'danger', text: errorText(job.error) };
    if (job.kind !== 'export' || !job.result) return { text: t('packingCanceled') };
    const { url } = job.result;
    saveLink(url);
    const file = `${name}.zip`;
    const { failed } = job.progress;
    return {
      ...(failed > 0
        ? { tone: 'danger', text: count('packedWithout', failed, { name: file }) }
        : { text: t('packed', { name: file }) }),
      // A browser may refuse what nobody has just clicked for.
      action: { label: t('downloadAgain'), onSelect: () => saveLink(url) },
    };
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'conflict') return { tone: 'danger', text: t('archivesFull') };
    throw error;
  } finally {
    end(work);
  }
}

/** An export while it is made. How far it is nobody knows: its items end together. */
class Packing implements Work {
  readonly progress = new Observed<BatchProgress>({ done: 0, total: 0 });
  readonly #client: Client;
  #id: string | undefined;
  #isCanceled = false;

  constructor(client: Client) {
    this.#client = client;
  }

  begun(id: string): void {
    this.#id = id;
    if (this.#isCanceled) this.cancel();
  }

  cancel(): void {
    this.#isCanceled = true;
    // A job that has just ended can no longer be canceled.
    if (this.#id !== undefined) this.#client.post('/jobs/{id}/cancel', { path: { id: this.#id } }).catch(() => undefined);
  }
}

/** Returns a name that the API takes: without what no name has, and with something else in it. */
export function archiveName(title: string): string {
  const text = title.toWellFormed().replaceAll(/[\p{Cc}\p{Bidi_Control}/\\\ufffd]/gu, ' ');
  const name = Array.from(text.trim()).slice(0, NAME_MAX).join('').trim();
  return /[\p{L}\p{N}]/u.test(name) ? name : 'files';
}
