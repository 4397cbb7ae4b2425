import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** An entry of a ZIP archive. */
export interface ZipEntry {
  /** Without a slash at its beginning. */
  readonly path: string;
  readonly modifiedAt: Date;
}

/**
 * A ZIP archive that is written as it is read: names in UTF-8, Zip64 where it is needed, nothing compressed, since most files are already. Memory grows
 * with the number of entries (some 300 bytes each), for the directory at the end, not with their size.
 */
export class ZipWriter {
  readonly #zip = new ZipFile();
  /** The archive. Destroyed with the error where an entry fails. */
  readonly output = this.#zip.outputStream as Readable & NodeJS.WritableStream & { readonly writableNeedDrain: boolean };

  readonly #signal: AbortSignal;

  /** `signal`: aborted, its methods throw its reason. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.output.on('error', ignored); // whoever reads it sees it
    this.#zip.on('error', (error: Error) => this.output.destroy(error));
  }

  /** Resolves when its content has been read, and the reader of the archive wants more. `size` in bytes. */
  async addFile({ path, modifiedAt }: ZipEntry, { content, size }: { content: Readable; size: number }): Promise<void> {
    content.on('error', ignored); // also after `ended`, when the archive is broken off
    const ended = once(content, 'end', { signal: this.#signal });
    // The archive keeps each entry for the directory at its end, so an entry must not keep its content.
    let coming: Readable | undefined = content;
    this.#zip.addReadStreamLazy(path, { mtime: modifiedAt, compress: false, size, mode: FILE_MODE }, (give) => {
      const stream = coming as Readable;
      coming = undefined;
      give(null, stream);
    });
    await ended;
    await this.#drained();
  }

  addFolder({ path, modifiedAt }: ZipEntry): Promise<void> {
    this.#zip.addEmptyDirectory(path, { mtime: modifiedAt, mode: FOLDER_MODE });
    return this.#drained();
  }

  /** No entry may follow. */
  end(): void {
    this.#zip.end();
  }

  async #drained(): Promise<void> {
    if (this.output.writableNeedDrain) await once(this.output, 'drain', { signal: this.#signal });
  }
}

const ignored = (): void => undefined;
const FILE_MODE = 0o100644;
const FOLDER_MODE = 0o40755;
