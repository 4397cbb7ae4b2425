const DATABASE = 'carrel-session';
const STORE = 'leases';
const KEY = 'refresh';
/** After this time another tab takes over: the tab may have been closed. */
const LEASE_MS = 15_000;
const LOOK_MS = 50;

interface Lease {
  readonly tab: number;
  /** ms since 1970 */
  readonly until: number;
}

/**
 * Runs one task at a time among all tabs, where the browser has no locks: on pages that came by plain http from another machine.
 * A record in IndexedDB, whose changes come one after the other in all tabs, says whose turn it is. Without storage the task runs
 * at once.
 */
export async function aloneByLease<T>(task: () => Promise<T>): Promise<T> {
  const database = await opened().catch(() => undefined);
  if (!database) return task();
  const tab = Math.random();
  try {
    while (!(await isTaken(database, tab))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    return await task();
  } finally {
    await release(database, tab).catch(() => undefined);
    database.close();
  }
}

/** Takes the lease if it is free. Resolves to whether it was. */
async function isTaken(database: IDBDatabase, tab: number): Promise<boolean> {
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE);
  const current = await answered<Lease | undefined>(store.get(KEY));
  const now = Date.now();
  // A clock that was set back must not hold the lease for hours.
  if (current && current.until > now && current.until <= now + LEASE_MS) return false;
  await answered(store.put({ tab, until: now + LEASE_MS } satisfies Lease, KEY));
  return true;
}

/** Gives the lease back, unless another tab has taken it meanwhile. */
async function release(database: IDBDatabase, tab: number): Promise<void> {
  const store = database.transaction(STORE, 'readwrite').objectStore(STORE);
  const current = await answered<Lease | undefined>(store.get(KEY));
  if (current?.tab === tab) await answered(store.delete(KEY));
}

async function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE));
  return answered(request);
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}
