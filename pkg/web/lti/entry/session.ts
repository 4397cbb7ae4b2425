/** The launch that this page shows, and the application JWT that opens the API for it. */
export interface Session {
  readonly token: string;
  readonly launchId: string;
}

/** The part of sessionStorage that a page needs; a browser may deny it inside a frame. */
export interface Keeper {
  get(key: string): string | null;
  /** Returns whether the value was stored. */
  set(key: string, value: string): boolean;
}

/**
 * Returns the session that `address` opens, and the address to show. The shown address lacks the token; only the tab stores it,
 * under the launch's id, so that a reload finds it again. Without a session, the page must be opened from the course.
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

/** Returns the launch's id from the JWT; only the server can verify the token. */
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

/** The tab's own storage, if the browser allows it. */
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

/** Storage in the tab's history entry, which also works if the browser denies storage: a reload finds it. */
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

/** The first keeper that accepts the value stores it. */
export const firstKeeper = (...keepers: readonly Keeper[]): Keeper => ({
  get: (key) => keepers.map((keeper) => keeper.get(key)).find((value) => value !== null) ?? null,
  set: (key, value) => keepers.some((keeper) => keeper.set(key, value)),
});

/** The keeper of this tab: the first storage that the browser allows. */
export const keeperOfTab = (): Keeper =>
  firstKeeper(
    tabKeeper(() => sessionStorage),
    historyKeeper(history),
  );
