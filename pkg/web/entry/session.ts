/** The launch that this page shows, and the application JWT that opens the API for it. */
export interface Session {
  readonly token: string;
  readonly launchId: string;
}

/** As much of sessionStorage as a page needs; a browser may refuse it inside a frame. */
export interface Keeper {
  get(key: string): string | null;
  /** Whether it is kept. */
  set(key: string, value: string): boolean;
}

/**
 * The session that `address` opens, and the address that may be seen: without the token, which the tab alone keeps, under the
 * launch's id, so that a reload finds it again. No session: the page must be opened from the course.
 */
export function enter(address: URL, keeper: Keeper): { session: Session | undefined; shown: string } {
  const token = address.searchParams.get('token');
  const launchId = token === null ? address.searchParams.get('launch') : launchOf(token);
  const shown = launchId ? `${address.pathname}?${new URLSearchParams({ launch: launchId })}` : address.pathname;
  if (!launchId) return { session: undefined, shown };
  if (token !== null) keeper.set(keyOf(launchId), token);
  const known = token ?? keeper.get(keyOf(launchId));
  return { session: known === null ? undefined : { token: known, launchId }, shown };
}

const keyOf = (launchId: string): string => `carrel:launch:${launchId}`;

/** The launch's id out of the JWT; whether the token holds is the server's to say. */
function launchOf(token: string): string | undefined {
  try {
    const claims = JSON.parse(textOf(token.split('.')[1] ?? '')) as { launch_id?: unknown } | null;
    return typeof claims?.launch_id === 'string' ? claims.launch_id : undefined;
  } catch {
    return undefined;
  }
}

const textOf = (base64url: string): string =>
  new TextDecoder().decode(
    Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0)),
  );

/** The tab's own memory, where the browser lets the page have it. */
export const tabKeeper = (storage: () => Storage): Keeper => ({
  get: (key) => {
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  },
  set: (key, value) => {
    try {
      storage().setItem(key, value);
      return true;
    } catch {
      return false;
    }
  },
});

/** Stored in the tab's history entry, which works also if the browser denies storage: a reload finds it. */
export const historyKeeper = (history: Pick<History, 'state' | 'replaceState'>): Keeper => ({
  get: (key) => {
    const value = (history.state as Record<string, unknown> | null)?.[key];
    return typeof value === 'string' ? value : null;
  },
  set: (key, value) => {
    history.replaceState({ ...(history.state as object | null), [key]: value }, '');
    return true;
  },
});

/** The first that takes the value keeps it. */
export const firstKeeper = (...keepers: readonly Keeper[]): Keeper => ({
  get: (key) => keepers.map((keeper) => keeper.get(key)).find((value) => value !== null) ?? null,
  set: (key, value) => keepers.some((keeper) => keeper.set(key, value)),
});

/** What this tab keeps, in the first place that the browser lets it have. */
export const keeperOfTab = (): Keeper =>
  firstKeeper(
    tabKeeper(() => sessionStorage),
    historyKeeper(history),
  );
