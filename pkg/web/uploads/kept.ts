import { BatchedWrites, type Changes } from './batched-writes.ts';
import { answered, ended, forgetIn, HANDLES, type KeptHandle, opened, STORE } from './kept-store.ts';
import type { Problem } from './problem.ts';
import type { OnTaken } from './queue.ts';
import { Tab } from './tab.ts';

/** How an upload continues after a reload. */
export type KeptState = 'waiting' | 'paused' | 'conflict' | 'failed';

/** An upload that is not done, as the browser keeps it so that it continues after a reload. */
export interface KeptUpload {
  readonly key: string;
  /** The id of the person who uploads: another one at this browser does not see it. */
  readonly person: string;
  /** The tab that uploads it. */
  readonly tab: string;
  /** Its place in the list: a later one has a higher number. */
  readonly order: number;
  readonly folderId: string | null;
  readonly path: readonly string[];
  /** True: it is an empty folder. */
  readonly isFolder: boolean;
  readonly size: number;
  readonly lastModified: number;
  readonly onTaken: OnTaken;
  readonly state: KeptState;
  readonly problem?: Problem | undefined;
  /** The server carries out requests with this key once. */
  readonly requestKey: string;
  /** When a request with this key may have begun, in ms since 1970; undefined: none has. */
  readonly keyUsedAt?: number | undefined;
  /** Where the server has its bytes; '': it has none. */
  readonly url: string;
  /** Reads the file again. Only some browsers have it. */
  readonly handle?: FileSystemFileHandle | undefined;
  /** When it joined the list, in ms since 1970: a later form, or another tab, does not keep it for longer. */
  readonly keptAt: number;
}

const KEPT_MS = 7 * 24 * 3_600_000;

/**
 * Unfinished uploads in IndexedDB. Where the browser allows no storage, it keeps nothing: uploads work, and a reload ends them.
 *
 * Invariants:
 * - Of several tabs one at most continues an upload: that which uploads it, or the first that asks once it is gone.
 * - Nobody gets what another person has kept.
 * - Once a person has signed out, nothing of theirs is kept, and no tab keeps more until they sign in again.
 */
export class KeptUploads {
  readonly #person: string;
  readonly #tab = new Tab();
  readonly #database: Promise<IDBDatabase>;
  readonly #writes: BatchedWrites<KeptUpload>;
  /** Keys that may be in the database, with the handle that is there. */
  readonly #stored = new Map<string, FileSystemFileHandle | undefined>();
  readonly #closed = new AbortController();
  #isHeld = false;

  /** `onFailure`: called once, when the browser cannot keep something. */
  constructor(person: string, onFailure: () => void) {
    this.#person = person;
    this.#database = opened();
    this.#database.catch(() => undefined);
    this.#writes = new BatchedWrites({ write: (changes) => this.#write(changes), onFailure });
    const { signal } = this.#closed;
    const flush = (): void => void this.#writes.flush();
    addEventListener('pagehide', flush, { signal });
    document.addEventListener('visibilitychange', () => document.hidden && flush(), { signal });
  }

  /** Keeps it a moment later; the last of several forms counts. */
  put(upload: Omit<KeptUpload, 'person' | 'tab'>): void {
    if (this.#isHeld || this.#closed.signal.aborted) return;
    this.#writes.put(upload.key, { ...upload, person: this.#person, tab: this.#tab.id });
  }

  delete(key: string): void {
    if (!this.#closed.signal.aborted) this.#writes.delete(key);
  }

  /** Takes over the uploads of tabs that are gone, in the order of their lists. */
  async interrupted(): Promise<KeptUpload[]> {
    const database = await this.#database.catch(() => undefined);
    if (!database) return [];
    const taken = (await this.#tab.knowing((isOpen) => this.#takeOver(database, isOpen))) ?? [];
    // Without them the person chooses the files again.
    const handles = await handlesIn(database).catch(() => new Map<string, FileSystemFileHandle>());
    return taken.map((upload) => {
      const handle = handles.get(upload.key);
      this.#stored.set(upload.key, handle);
      return handle ? { ...upload, handle } : upload;
    });
  }

  /** Stores nothing while the session has ended: the person may have signed out in another tab, which has forgotten all. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Stores again. What was put meanwhile has to be put again. Returns whether it was held. */
  resume(): boolean {
    const wasHeld = this.#isHeld;
    this.#isHeld = false;
    return wasHeld;
  }

  /** Ends it. What is kept waits for the same person; `isForgotten`: it is deleted, whichever tab has it. */
  async close({ isForgotten }: { readonly isForgotten: boolean }): Promise<void> {
    this.#closed.abort();
    try {
      if (isForgotten) await this.#forget();
      else await this.#writes.flush();
      (await this.#database).close();
    } catch {
      // There is no storage, and nothing in it.
    } finally {
      this.#tab.close();
    }
  }

  async #forget(): Promise<void> {
    this.#writes.clear();
    await forgetIn(await this.#database, this.#person);
  }

  async #takeOver(database: IDBDatabase, isOpen: (tab: string) => boolean): Promise<KeptUpload[]> {
    // All in one transaction: a tab that asks at the same time sees what this one has taken.
    const store = database.transaction(STORE, 'readwrite').objectStore(STORE);
    const left = (await answered<KeptUpload[]>(store.getAll())).filter(({ tab }) => !isOpen(tab));
    const oldest = Date.now() - KEPT_MS;
    const isOld = ({ keptAt }: KeptUpload): boolean => keptAt < oldest;
    for (const { key } of left.filter(isOld)) store.delete(key);
    const own = left.filter((upload) => !isOld(upload) && upload.person === this.#person);
    for (const upload of own) store.put({ ...upload, tab: this.#tab.id } satisfies KeptUpload);
    return own.toSorted((a, b) => a.order - b.order);
  }

  async #write(changes: Changes<KeptUpload>): Promise<void> {
    // An upload that ended before it was stored costs nothing.
    const due = [...changes].filter(([key, upload]) => (upload ? !this.#isHeld : this.#stored.has(key)));
    if (due.length === 0) return;
    const handles = due.filter(([key, upload]) => upload?.handle !== this.#stored.get(key));
    const database = await this.#database;
    // Both begin at once: a page that goes away has no later moment.
    const written = [
      writeTo(database, STORE, due, (store, upload) => store.put({ ...upload, handle: undefined })),
      writeTo(database, HANDLES, handles, putHandle),
    ];
    for (const [key, upload] of due) {
      if (upload) this.#stored.set(key, upload.handle);
      else this.#stored.delete(key);
    }
    await Promise.all(written);
  }
}

/** Returns the handles by key of upload, and deletes those that no upload has. */
async function handlesIn(database: IDBDatabase): Promise<Map<string, FileSystemFileHandle>> {
  const transaction = database.transaction([STORE, HANDLES], 'readwrite');
  const store = transaction.objectStore(HANDLES);
  const [handles, uploads] = await Promise.all([
    answered<KeptHandle[]>(store.getAll()),
    answered(transaction.objectStore(STORE).getAllKeys()),
  ]);
  const isKept = new Set(uploads);
  for (const { key } of handles) if (!isKept.has(key)) store.delete(key);
  return new Map(handles.map(({ key, handle }) => [key, handle]));
}

/** Makes all changes to a store in one transaction. */
async function writeTo(
  database: IDBDatabase,
  name: string,
  changes: readonly (readonly [key: string, upload: KeptUpload | undefined])[],
  put: (store: IDBObjectStore, upload: KeptUpload) => void,
): Promise<void> {
  if (changes.length === 0) return;
  const transaction = database.transaction(name, 'readwrite');
  const store = transaction.objectStore(name);
  for (const [key, upload] of changes) {
    if (upload) put(store, upload);
    else store.delete(key);
  }
  // A page that goes away hears of no replies; without this the browser would wait for them, and undo it all.
  transaction.commit();
  await ended(transaction);
}

/** A handle that cannot be stored must not cost the rest. */
function putHandle(store: IDBObjectStore, { key, person, handle }: KeptUpload): void {
  try {
    if (handle) store.put({ key, person, handle } satisfies KeptHandle);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'DataCloneError')) throw error;
  }
}
