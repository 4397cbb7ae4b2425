import type { Sql } from '../../store/postgres/pool.ts';
import { type Contents, showReadBytes } from './imports.sql.ts';

/**
 * Records how much of an archive's contents is read, for the person who waits for the import. Each step that stores contents
 * records the exact amount; in between, it counts contents that are read and not stored yet. A new run begins with what is
 * stored.
 */
export class Reading {
  /** Bytes that were read and are not stored yet. */
  ahead = 0;
  readonly #taskId: number;
  #contents: Contents | undefined;
  #shown = 0;

  constructor(taskId: number) {
    this.#taskId = taskId;
  }

  begin(contents: Contents): void {
    this.#contents = contents;
  }

  /** Returns the contents after these are stored. */
  after(stored: readonly { readonly size: number }[]): Contents {
    if (!this.#contents) throw new Error('contents are stored before they are counted');
    const { entries, bytes } = this.#contents;
    const more = stored.reduce((sum, { size }) => sum + size, 0);
    return { ...this.#contents, entries: entries + stored.length, bytes: bytes + more };
  }

  stored(contents: Contents): void {
    this.#contents = contents;
    this.ahead = 0;
  }

  /** True if something was read since it was last shown. */
  get isAhead(): boolean {
    return this.ahead > 0 && this.#bytes > this.#shown;
  }

  async show(sql: Sql): Promise<void> {
    const bytes = this.#bytes;
    await showReadBytes(sql, this.#taskId, bytes);
    this.#shown = bytes;
  }

  get #bytes(): number {
    return (this.#contents?.bytes ?? 0) + this.ahead;
  }
}
