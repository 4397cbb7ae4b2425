const DATABASE = 'carrel-uploads';
export const STORE = 'uploads';
/** 1 kept large files only, and no state. */
const VERSION = 2;

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
  const transaction = database.transaction(STORE, 'readwrite');
  const store = transaction.objectStore(STORE);
  const all = await answered<{ readonly key: string; readonly person: string }[]>(store.getAll());
  for (const { key, person } of all) if (person === of) store.delete(key);
  await ended(transaction);
}

/** Opens the database. Throws where the browser allows none. */
export async function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION);
  request.addEventListener('upgradeneeded', () => {
    const { result } = request;
    if (result.objectStoreNames.contains(STORE)) result.deleteObjectStore(STORE);
    result.createObjectStore(STORE, { keyPath: 'key' });
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
