const DATABASE = 'carrel-uploads';
export const STORE = 'uploads';
/**
 * What reads the files again, apart from all else: when a page goes away, Chromium often undoes a transaction with handles, and
 * everything in it.
 */
export const HANDLES = 'handles';
/** 1 kept large files only, and no state; 2 kept handles in the uploads, which are still read there. */
const VERSION = 3;

export interface KeptHandle {
  /** The key of the upload. */
  readonly key: string;
  readonly person: string;
  readonly handle: FileSystemFileHandle;
}

/** Deletes what is kept of a person. Rejects where the browser allows no storage: nothing is kept there. */
export async function forgetKept(person: string): Promise<void> {
  const database = await opened();
  try {
    await forgetIn(database, person);
  } finally {
    database.close();
  }
}

/** Deletes what is kept of a person, whichever tab has it. */
export async function forgetIn(database: IDBDatabase, of: string): Promise<void> {
  const transaction = database.transaction([STORE, HANDLES], 'readwrite');
  const stores = [STORE, HANDLES].map((name) => transaction.objectStore(name));
  await Promise.all(
    stores.map(async (store) => {
      const all = await answered<{ readonly key: string; readonly person: string }[]>(store.getAll());
      for (const { key, person } of all) if (person === of) store.delete(key);
    }),
  );
  await ended(transaction);
}

/** Opens the database. Throws where the browser allows none. */
export async function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION);
  request.addEventListener('upgradeneeded', ({ oldVersion }) => {
    const { result } = request;
    if (oldVersion === 1) result.deleteObjectStore(STORE);
    for (const name of [STORE, HANDLES])
      if (!result.objectStoreNames.contains(name)) result.createObjectStore(name, { keyPath: 'key' });
  });
  request.addEventListener('success', () => {
    // Otherwise this tab would hold up a later version of the page in another one.
    request.result.addEventListener('versionchange', () => request.result.close());
  });
  return Promise.race([
    answered(request),
    // A tab that was open before an upgrade may stay so for days.
    new Promise<never>((_, reject) => request.addEventListener('blocked', () => reject(new Error('IndexedDB is in use')))),
  ]);
}

export function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}

export function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('IndexedDB failed')));
  });
}
