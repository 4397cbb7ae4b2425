import type { Folders } from './folders.ts';
import type { OnTaken, Upload } from '../../uploads/queue.ts';
import { type Ask, Refused } from '../../uploads/request.ts';
import { isReadable, type Sender, SMALL_BYTES, type Steps, TINY_BYTES } from '../../uploads/sender.ts';
import { discard, sendByTus } from '../../uploads/tus.ts';

interface Target {
  /** null: the person's own root. */
  readonly folderId: string | null;
  readonly name: string;
  readonly onConflict: 'fail' | 'rename' | 'replace';
}

/** Sends one upload to the server: its folder first, then its bytes. */
export class FileSender implements Sender {
  readonly #ask: Ask;
  readonly #folders: Folders;
  /** Each request has an Idempotency-Key: an attempt after a lost reply gets that reply, after a reload too. */
  readonly isRepeatable = true;

  constructor({ ask, folders }: { readonly ask: Ask; readonly folders: Folders }) {
    this.#ask = ask;
    this.#folders = folders;
  }

  /** Returns the id of the resulting file; undefined for an empty folder. Throws Refused; when the signal aborts, its reason. */
  async send(upload: Upload, steps: Steps): Promise<string | undefined> {
    const { folderId, path, file, size } = upload;
    const isFolder = file === undefined;
    const parents = isFolder ? path : path.slice(0, -1);
    try {
      const parent = await this.#folders.at(folderId, parents);
      steps.signal.throwIfAborted();
      if (isFolder) return undefined;
      const target: Target = { folderId: parent, name: path.at(-1) ?? file.name, onConflict: onConflictOf(upload.onTaken) };
      const isLarge = size > SMALL_BYTES;
      if (isLarge && steps.url === '' && target.onConflict === 'fail') await this.#requireFreeName(target, steps.signal);
      steps.onSending();
      return await (isLarge ? this.#sendLarge(file, target, steps) : this.#sendSmall(file, target, steps));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { code } = error.problem;
      if (code === 'not_found' && parents.length > 0) {
        // Somebody deleted a folder that was made for this list.
        this.#folders.reset(folderId, parents);
        throw new Refused({ ...error.problem, code: 'folder_gone' });
      }
      if (code !== 'unreachable' || !file || (await isReadable(file))) throw error;
      throw new Refused({ code: 'file_unreadable', message: '' });
    }
  }

  discard = (url: string): Promise<void> => discard(url, this.#ask);

  async #sendSmall(file: File, target: Target, { signal, key, onProgress }: Steps): Promise<string> {
    const form = new FormData();
    if (target.folderId !== null) form.set('folder_id', target.folderId);
    form.set('on_conflict', target.onConflict);
    form.set('file', file, target.name);
    const { text } = await this.#ask({
      method: 'POST',
      url: '/api/v1/files',
      headers: { 'Idempotency-Key': key() },
      body: form,
      signal,
      // The form has some bytes more than the file. A tiny file is sent before anybody could read how much of it is.
      onSent: file.size < TINY_BYTES ? undefined : (bytes) => onProgress(Math.min(bytes, file.size)),
    });
    return (JSON.parse(text) as { id: string }).id;
  }

  #sendLarge(file: File, target: Target, { signal, key, ...steps }: Steps): Promise<string | undefined> {
    const { folderId, name, onConflict } = target;
    const metadata = {
      filename: name,
      ...(folderId === null ? {} : { folder_id: folderId }),
      on_conflict: onConflict,
    };
    const onUrl = async (url: string): Promise<void> => {
      steps.onUrl(url);
      // It starts anew, perhaps because it had arrived.
      if (url === '' && onConflict === 'fail') await this.#requireFreeName(target, signal);
    };
    const [ask, uploads] = [this.#ask, '/api/v1/files/uploads'];
    return sendByTus({ ...steps, onUrl, ask, file, uploads, metadata, creationKey: key }, signal);
  }

  /** A large upload would otherwise learn at its end that its name is taken. */
  async #requireFreeName({ folderId, name }: Target, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ folder_id: folderId ?? 'root', q: name, limit: '200' });
    const { text } = await this.#ask({ method: 'GET', url: `/api/v1/files?${query}`, signal });
    const { data } = JSON.parse(text) as { data: readonly { readonly name: string }[] };
    if (data.some((file) => file.name === name.normalize())) throw new Refused({ code: 'name_conflict', message: '' });
  }
}

/** The server has no `skip`: it refuses the file, and the list takes that for the answer. */
const onConflictOf = (onTaken: OnTaken): Target['onConflict'] =>
  onTaken === 'replace' || onTaken === 'rename' ? onTaken : 'fail';
