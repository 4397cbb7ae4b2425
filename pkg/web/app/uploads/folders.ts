import { type Ask, Refused } from '../../uploads/request.ts';

/** Makes the folders of uploads, each once; one that is there already is used. */
export class Folders {
  readonly #ask: Ask;
  readonly #made = new Map<string, Promise<string>>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Returns the id of the folder at `path` below a folder; null is the person's own root. Throws Refused. */
  async at(folderId: string | null, path: readonly string[]): Promise<string | null> {
    if (path.length === 0) return folderId;
    const key = keyOf(folderId, path);
    // The signal of one upload must not end what others wait for.
    const making = this.#made.get(key) ?? this.#make(folderId, path);
    this.#made.set(key, making);
    try {
      return await making;
    } catch (error) {
      this.#made.delete(key);
      throw error;
    }
  }

  /** A folder at this path is gone: the next upload makes it again, and those above it. */
  reset(folderId: string | null, path: readonly string[]): void {
    for (let length = path.length; length > 0; length -= 1) this.#made.delete(keyOf(folderId, path.slice(0, length)));
  }

  async #make(folderId: string | null, path: readonly string[]): Promise<string> {
    const parentId = await this.at(folderId, path.slice(0, -1));
    const body = JSON.stringify({ name: path.at(-1), parent_id: parentId, on_conflict: 'reuse' });
    try {
      const { text } = await this.#ask({
        method: 'POST',
        url: '/api/v1/folders',
        headers: { 'Content-Type': 'application/json' },
        body,
        signal: AbortSignal.timeout(MAKE_MS),
      });
      return (JSON.parse(text) as { id: string }).id;
    } catch (error) {
      if (error instanceof DOMException) throw new Refused({ code: 'unreachable', message: '' });
      // A file has the name of the folder: no answer about the upload itself would help.
      if (error instanceof Refused && error.problem.code === 'name_conflict')
        throw new Refused({ ...error.problem, code: 'folder_name_taken' });
      throw error;
    }
  }
}

const MAKE_MS = 60_000;

const keyOf = (folderId: string | null, path: readonly string[]): string => JSON.stringify([folderId, ...path]);
