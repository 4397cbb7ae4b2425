import { newId } from '../api/new-id.ts';
import type { KeptState, KeptUpload, KeptUploads } from './kept.ts';
import type { Restored, State, Upload } from './queue.ts';
import { SMALL_BYTES } from './sender.ts';
import type { FoundFile } from './walk.ts';

/** All that an upload has beside its place in the list. */
export interface UploadRecord {
  readonly key: string;
  readonly order: number;
  readonly isFolder: boolean;
  /** When it joined the list, in ms since 1970. */
  readonly keptAt: number;
  requestKey: string;
  /** When a request with the key may have begun, in ms since 1970; undefined: none has. */
  keyUsedAt: number | undefined;
  url: string;
  stop: AbortController | undefined;
  /** Reads the file after a reload. */
  handle: FileSystemFileHandle | undefined;
  lastModified: number;
  /** The form in which it was kept last. */
  keptAs: string;
}

interface Deps {
  readonly kept: Pick<KeptUploads, 'put' | 'delete'>;
  /** False where a small file that is sent again would be there twice: small uploads are not kept then. */
  readonly keepsSmall: boolean;
  readonly uploadOf: (id: number) => Upload | undefined;
  /** ms since 1970 */
  readonly now: () => number;
}

/** The server remembers a key for a day (docs/design/api-conventions.md); a request takes its time too. */
const KEY_MS = 23 * 3_600_000;

/** Keeps each upload of the list, as it is, until it is done. */
export class Records {
  readonly #deps: Deps;
  readonly #records = new Map<number, UploadRecord>();
  #lastOrder = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get = (id: number): UploadRecord | undefined => this.#records.get(id);

  /** A new upload; without `found` it is an empty folder. */
  add(id: number, found: FoundFile | undefined): void {
    this.#lastOrder = Math.max(this.#lastOrder + 1, this.#deps.now() * 1_000);
    const key = newId();
    this.#records.set(id, {
      key,
      order: this.#lastOrder,
      isFolder: found === undefined,
      keptAt: this.#deps.now(),
      requestKey: key,
      keyUsedAt: undefined,
      url: '',
      stop: undefined,
      handle: undefined,
      lastModified: found?.file.lastModified ?? 0,
      keptAs: '',
    });
    this.keep(id);
    if (found) void this.addHandle(id, found);
  }

  /** An upload of a former page. */
  restore(id: number, upload: KeptUpload): void {
    const { key, order, isFolder, keptAt, requestKey, keyUsedAt, url, handle, lastModified } = upload;
    const record = { key, order, isFolder, keptAt, requestKey, keyUsedAt, url, handle, lastModified };
    this.#records.set(id, { ...record, stop: undefined, keptAs: '' });
  }

  /** Browsers give the handle of a file a moment later than the file. */
  async addHandle(id: number, { handle }: FoundFile): Promise<void> {
    const found = await handle?.().catch(() => undefined);
    const record = this.#records.get(id);
    if (!found || !record) return;
    record.handle = found;
    this.keep(id);
  }

  /** The upload does not continue what the server has of it. Returns where that was; '': nowhere. */
  renew(id: number): string {
    const record = this.#records.get(id);
    if (!record) return '';
    const { url } = record;
    record.url = '';
    record.requestKey = newId();
    record.keyUsedAt = undefined;
    this.keep(id);
    return url;
  }

  /** Returns the key for a request that begins now. */
  useKey(id: number): string {
    const record = this.#records.get(id);
    if (!record) return newId();
    if (record.keyUsedAt === undefined) {
      record.keyUsedAt = this.#deps.now();
      this.keep(id);
    }
    return record.requestKey;
  }

  /** Says whether the server may have carried out a request with the key of an upload, and forgotten that it has. */
  isKeyForgotten(id: number): boolean {
    const { keyUsedAt } = this.#records.get(id) ?? {};
    return keyUsedAt !== undefined && keyUsedAt < this.#deps.now() - KEY_MS;
  }

  keep(id: number): void {
    const [record, upload] = [this.#records.get(id), this.#deps.uploadOf(id)];
    if (!record || !upload) return;
    record.keptAs = formOf(upload);
    const state = KEPT_AS[upload.state];
    if (!state) return this.#deps.kept.delete(record.key);
    if (upload.size <= SMALL_BYTES && !this.#deps.keepsSmall) return;
    const { folderId, path, size, onTaken, problem } = upload;
    const { key, order, isFolder, keptAt, requestKey, keyUsedAt, url, handle, lastModified } = record;
    const place = { key, order, folderId, path, isFolder, keptAt };
    const sending = { requestKey, keyUsedAt, url, handle };
    this.#deps.kept.put({ ...place, ...sending, size, lastModified, onTaken, state, problem });
  }

  /** Keeps an upload that has changed, if the change counts after a reload. */
  keepChanged(id: number): void {
    const [record, upload] = [this.#records.get(id), this.#deps.uploadOf(id)];
    if (record && upload && record.keptAs !== formOf(upload)) this.keep(id);
  }

  /** Keeps everything again, after a time in which nothing was kept. */
  keepAgain(): void {
    for (const id of this.#records.keys()) this.keep(id);
  }

  delete(id: number): void {
    const record = this.#records.get(id);
    this.#records.delete(id);
    if (record) this.#deps.kept.delete(record.key);
  }

  /** Ends it; what is kept stays. */
  clear(): void {
    this.#records.clear();
  }
}

/** How an upload goes on after a reload; undefined: it has ended. */
const KEPT_AS: { readonly [Name in State]: KeptState | undefined } = {
  waiting: 'waiting',
  preparing: 'waiting',
  sending: 'waiting',
  interrupted: 'waiting',
  paused: 'paused',
  conflict: 'conflict',
  failed: 'failed',
  done: undefined,
  skipped: undefined,
};

/** An upload is kept again when this changes. */
const formOf = ({ state, onTaken }: Upload): string => `${KEPT_AS[state] ?? ''} ${onTaken}`;

/** Returns an upload as it joins the list after a reload. `mayRead`: its file can be read without asking the person. */
export function restored(upload: KeptUpload, { mayRead }: { readonly mayRead: boolean }): Restored {
  const { folderId, path, size, onTaken, problem, handle } = upload;
  const state = mayRead || upload.isFolder ? upload.state : 'interrupted';
  return { folderId, path, file: undefined, size, onTaken, problem, state, canRead: handle !== undefined };
}
