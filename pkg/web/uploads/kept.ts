import { newId } from '../api/new-id.ts';
import type { OnTaken } from './queue.ts';

/** What the browser keeps of an unfinished upload of a large file, so that it continues after a reload. */
export interface KeptUpload {
  readonly key: string;
  /** The id of the person who uploads: another one at this browser does not see it. */
  readonly person: string;
  /** The tab that uploads it. */
  readonly tab: string;
  readonly folderId: string | null;
  readonly path: readonly string[];
  readonly size: number;
  readonly lastModified: number;
  readonly onTaken: OnTaken;
  /** Where the server has its bytes; '': it has none. */
  readonly url: string;
  /** Reads the file again. Only some browsers have it. */
  readonly handle?: FileSystemFileHandle | undefined;
  /** ms since 1970 */
  readonly keptAt: number;
}

const DATABASE = 'carrel-uploads';
const STORE = 'uploads';
const KEPT_MS = 7 * 24 * 3_600_000;

/**
 * Unfinished uploads in IndexedDB. Where the browser allows no storage, it keeps nothing: uploads work, and a reload ends them.
 */
export class KeptUploads {
  readonly #person: string;
  readonly #tab = newId();
  readonly #database: Promise<IDBDatabase | undefined>;
  /** Lets others take over what this one has kept. */
  release = (): void => undefined;

  constructor(person: string) {
    this.#person = person;
    this.#database = opened().catch(() => undefined);
    // The lock shows other tabs that this one is alive; the browser releases it with the tab.
    const held = new Promise<void>((resolve) => (this.release = resolve));
    void navigator.locks?.request(lockOf(this.#tab), () => held).catch(() => undefined);
  }

  async put(upload: Omit<KeptUpload, 'person' | 'tab' | 'keptAt'>): Promise<void> {
    const record: KeptUpload = { ...upload, person: this.#person, tab: this.#tab, keptAt: Date.now() };
    // A handle that cannot be stored must not cost the rest of the record.
    await this.#write((store) => store.put(record)).catch(() =>
      this.#write((store) => store.put({ ...record, handle: undefined })),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#write((store) => store.delete(key));
  }

  /** Takes over the uploads of tabs that are gone. */
  async interrupted(): Promise<KeptUpload[]> {
    const database = await this.#database;
    if (!database || !navigator.locks) return [];
    const { held = [] } = await navigator.locks.query();
    const living = new Set(held.map(({ name }) => name));
    const all = await answered<KeptUpload[]>(database.transaction(STORE).objectStore(STORE).getAll());
    const left = all.filter(({ tab }) => !living.has(lockOf(tab)));
    const [old, own] = [left.filter(isOld), left.filter((upload) => !isOld(upload) && upload.person === this.#person)];
    await Promise.all(old.map(({ key }) => this.delete(key)));
    await Promise.all(own.map((upload) => this.put(upload)));
    return own;
  }

  async #write(act: (store: IDBObjectStore) => IDBRequest): Promise<void> {
    const database = await this.#database;
    if (database) await answered(act(database.transaction(STORE, 'readwrite').objectStore(STORE)));
  }
}

const lockOf = (tab: string): string => `carrel-uploads:${tab}`;

const isOld = ({ keptAt }: KeptUpload): boolean => keptAt < Date.now() - KEPT_MS;

async function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE, { keyPath: 'key' }));
  return answered(request);
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}
