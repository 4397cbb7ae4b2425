import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Repository, RepositoryError } from './repository.ts';

/** The suffix of a file until it is complete. */
const TEMPORARY = '.part';

/** A folder of this machine, or a volume of the pod. Only its owner can read its files. */
export class FolderRepository implements Repository {
  readonly name: string;

  constructor(path: string) {
    this.name = resolve(path);
  }

  async put(name: string, body: Readable | Buffer): Promise<void> {
    const path = this.#pathOf(name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(unwritable);
    const temporary = `${path}${TEMPORARY}`;
    try {
      await pipeline(
        Buffer.isBuffer(body) ? Readable.from([body]) : body,
        createWriteStream(temporary, { mode: 0o600, flush: true }),
      );
      await rename(temporary, path);
      await syncFolder(dirname(path));
    } catch (error) {
      await rm(temporary, { force: true });
      // Other errors belong to the body that is stored.
      if ((error as NodeJS.ErrnoException).syscall === 'write' || (error as NodeJS.ErrnoException).path === temporary)
        unwritable(error as NodeJS.ErrnoException);
      throw error;
    }
  }

  async get(name: string): Promise<Readable> {
    const path = this.#pathOf(name);
    if (!(await stat(path).catch(() => undefined))?.isFile()) throw new RepositoryError(`${path} is missing`);
    return createReadStream(path);
  }

  async *list(prefix: string): AsyncGenerator<{ name: string; size: number }> {
    const path = this.#pathOf(prefix);
    const found = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new RepositoryError(`${path} cannot be read: ${error.message}`);
    });
    // Sorts as a bucket lists: a folder counts with the slash that follows its name.
    const names = found.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    for (const name of names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
      if (name.endsWith('/')) yield* this.list(prefix + name);
      else if (!name.endsWith(TEMPORARY)) yield { name: prefix + name, size: (await stat(join(path, name))).size };
    }
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(this.#pathOf(name), { force: true });
  }

  close(): void {}

  /** Throws RepositoryError for a name outside the folder. Names come from a backup, which others may have changed. */
  #pathOf(name: string): string {
    const path = resolve(this.name, name);
    if (path !== this.name && !path.startsWith(this.name.endsWith(sep) ? this.name : this.name + sep))
      throw new RepositoryError(`${name} leads out of ${this.name}`);
    return path;
  }
}

function unwritable(error: NodeJS.ErrnoException): never {
  throw new RepositoryError(`cannot write to the folder: ${error.message}`, { cause: error });
}

/** Syncs the folder: until then a crash of the machine could still remove a name. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
