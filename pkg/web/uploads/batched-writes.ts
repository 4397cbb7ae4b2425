/** Values by key; undefined: to delete. */
export type Changes<T> = ReadonlyMap<string, T | undefined>;

interface Options<T> {
  /** Makes all changes, or none and rejects. */
  readonly write: (changes: Changes<T>) => Promise<void>;
  /** Called once, when values cannot be stored. */
  readonly onFailure: () => void;
}

/** A drop is shown before it is kept: the first 300 ms are the page's own. */
const DELAY_MS = 400;
/** Values of one write: a write of thousands with handles would hold up the page. */
const MOST = 500;
const PAUSE_MS = 20;

/**
 * Collects changes and writes them a moment later, many at once; of several changes of a key it writes the last. After a failure
 * it stores no more values, but still deletes: what was deleted must not come back.
 */
export class BatchedWrites<T> {
  readonly #options: Options<T>;
  readonly #pending = new Map<string, T | undefined>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWriting = false;
  #hasFailed = false;

  constructor(options: Options<T>) {
    this.#options = options;
  }

  put(key: string, value: T): void {
    if (!this.#hasFailed) this.#add(key, value);
  }

  delete(key: string): void {
    this.#add(key, undefined);
  }

  /** Discards what is not written yet. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending.clear();
  }

  /** Writes all at once: the page is about to go. */
  async flush(): Promise<void> {
    const changes = new Map(this.#pending);
    this.clear();
    await this.#write(changes);
  }

  #add(key: string, value: T | undefined): void {
    // The last change comes last, so that a batch never writes an older one after it.
    this.#pending.delete(key);
    this.#pending.set(key, value);
    if (!this.#isWriting) this.#timer ??= setTimeout(() => void this.#writeNext(), DELAY_MS);
  }

  async #writeNext(): Promise<void> {
    this.#timer = undefined;
    this.#isWriting = true;
    const changes = new Map<string, T | undefined>();
    for (const [key, value] of this.#pending) {
      if (changes.size === MOST) break;
      changes.set(key, value);
      this.#pending.delete(key);
    }
    await this.#write(changes);
    this.#isWriting = false;
    if (this.#pending.size > 0) this.#timer ??= setTimeout(() => void this.#writeNext(), PAUSE_MS);
  }

  async #write(changes: Changes<T>): Promise<void> {
    if (changes.size === 0) return;
    try {
      await this.#options.write(changes);
    } catch {
      const deleted = new Map([...changes].filter(([, value]) => value === undefined));
      if (deleted.size < changes.size) this.#fail();
      // A full storage refuses the whole write, but has room for its deletions.
      if (deleted.size > 0) await this.#options.write(deleted).catch(() => undefined);
    }
  }

  #fail(): void {
    for (const [key, value] of this.#pending) if (value !== undefined) this.#pending.delete(key);
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure();
  }
}
