type Permission = (options: { readonly mode: 'read' }) => Promise<PermissionState>;

/** Handles that are asked about side by side. */
const AT_ONCE = 100;

/** Returns what the browser says. One that has no permissions cannot read the file again either: undefined. */
async function permissionOf(handle: FileSystemFileHandle, act: 'query' | 'request'): Promise<PermissionState | undefined> {
  const asked = handle as FileSystemFileHandle & Partial<Record<'queryPermission' | 'requestPermission', Permission>>;
  return asked[`${act}Permission`]?.({ mode: 'read' }).catch(() => undefined);
}

/** Returns whether the page may read the file without asking the person. */
export const mayRead = async (handle: FileSystemFileHandle): Promise<boolean> =>
  (await permissionOf(handle, 'query')) === 'granted';

/** Returns those that the page may read without asking the person. */
export async function readable<T extends { readonly handle: FileSystemFileHandle }>(all: readonly T[]): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE);
    const may = await Promise.all(some.map(({ handle }) => mayRead(handle)));
    found.push(...some.filter((_, index) => may[index]));
  }
  return found;
}

/**
 * Asks the person for permission to read files; yields those that the page may read, as they are allowed. Call it in the event of
 * a click. A browser may allow all files of a former visit by one question, so each answer is followed by a look at the others.
 * It ends when the person refuses, or when the browser wants another click before it asks again.
 */
export async function* allowed<T extends { readonly handle: FileSystemFileHandle }>(
  all: readonly T[],
): AsyncGenerator<readonly T[]> {
  let open = all;
  // The question first: the click does not count for long.
  for (let [next] = open; next; [next] = open) {
    if ((await permissionOf(next.handle, 'request')) !== 'granted') return;
    const found = new Set(await readable(open)).add(next);
    yield [...found];
    open = open.filter((one) => !found.has(one));
  }
}
