/** The entries that something running takes out of a location, such as a folder. */
interface Leaving {
  readonly location: string;
  readonly ids: ReadonlySet<string>;
}

const leaving = new Set<Leaving>();

/**
 * Notes that these entries are being taken out of a location, one after the other on the server, while its lists do not show
 * them. Returns the function that ends that: what is there then is shown again.
 */
export function leavingNow(location: string, ids: ReadonlySet<string>): () => void {
  const one = { location, ids };
  leaving.add(one);
  return () => void leaving.delete(one);
}

/** Returns what is being taken out of a location. */
export const leavingFrom = (location: string): ReadonlySet<string> =>
  new Set([...leaving].flatMap((one) => (one.location === location ? [...one.ids] : [])));
