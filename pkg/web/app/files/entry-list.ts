import type { Tagged } from '../../api/client.ts';
import { Observed } from '../../api/observed.ts';
import { type ApiProblem, isAbort, problemOf } from '../../api/problem.ts';
import { inBackground } from '../../api/slow-requests.ts';
import { LazyRows, type Page } from '../../design/grid/lazy-rows.ts';
import { type Entry, idOf } from './entry.ts';
import type { Source } from './sources.ts';

export interface ListState {
  readonly rows: LazyRows<Entry>;
  readonly isLoading: boolean;
  readonly problem: ApiProblem | undefined;
}

/** A page as it was read last, and the cursor by which. */
interface KnownPage extends Tagged<Page<Entry>> {
  readonly cursor: string | undefined;
}

/** More pages than these are not read again after a change: the rows behind them are loaded anew as one scrolls. */
const PAGES_AGAIN = 10;

/**
 * The rows of a source as they are loaded, and kept like the server's. Everything is asked once at a time. A failure stays in
 * `problem` until something succeeds.
 */
export class EntryList {
  readonly state: Observed<ListState>;
  readonly #source: Source;
  readonly #abort = new AbortController();
  #pages: readonly KnownPage[] = [];
  /** A change is shown of which the pages do not know. */
  #isAhead = false;
  #running: Promise<void> | undefined;

  constructor(source: Source) {
    this.#source = source;
    this.state = new Observed<ListState>({ rows: LazyRows.empty(idOf), isLoading: true, problem: undefined });
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Loads the next page of the beginning; resolves when it is there. */
  more(): Promise<void> {
    return this.#once(async (signal) => {
      const { rows } = this.state.value;
      if (rows.next === null) return;
      this.#set({ isLoading: true });
      const cursor = rows.next;
      const read = await this.#source.page({ cursor, signal });
      if (!read) return;
      this.#pages = [...this.#pages, { ...read, cursor }];
      this.#set({ rows: rows.withPage(read.body) });
    });
  }

  /** Loads the end of the list. A list without an opposite order is loaded to its end. */
  async end(): Promise<void> {
    const { rows } = this.state.value;
    if (rows.isEndLoaded) return;
    const { end } = this.#source;
    if (!end) {
      while (this.state.value.rows.next !== null && !this.state.value.problem) await this.more();
      return;
    }
    await this.#once(async (signal) => {
      const last = await end(signal);
      this.#set({ rows: this.state.value.rows.withEnd(last) });
    });
  }

  /** Loads all that is missing, and returns all rows. Throws what went wrong. */
  async all(): Promise<readonly Entry[]> {
    while (this.state.value.rows.next !== null) {
      await this.more();
      const { problem } = this.state.value;
      if (problem) throw problem;
    }
    return this.state.value.rows.loaded;
  }

  /** Asks whether the pages of these rows have changed, and brings the list up to date if one has. */
  refresh(start = 0, end = start): Promise<void> {
    return this.#once(async (list) => {
      // Nobody waits for what others may have changed.
      const signal = inBackground(AbortSignal.any([list]));
      // What failed at its beginning is asked for again by its button.
      if (this.#pages.length === 0) return;
      if (this.#isAhead) return this.#again(signal);
      const current: KnownPage[] = [];
      for (const { cursor } of this.#pagesOf(start, end)) {
        const known = this.#knownAt(cursor);
        const page = await this.#read(cursor, signal);
        if (page) current.push(page);
        if (page !== known) return this.#again(signal, current);
      }
      if (this.state.value.problem) this.#set({});
    });
  }

  /** Reads the list again: something in it was changed here. */
  reload(): Promise<void> {
    return this.#once((signal) => this.#again(signal));
  }

  /** Shows a change at once; the next refresh brings what the server made of it. */
  change(to: (rows: LazyRows<Entry>) => LazyRows<Entry>): void {
    this.#isAhead = true;
    this.#set({ rows: to(this.state.value.rows) });
  }

  #pagesOf(start: number, end: number): readonly KnownPage[] {
    let first = 0;
    return this.#pages.filter(({ body }, index) => {
      const from = first;
      first += body.rows.length;
      return index === 0 || (from <= end && first > start);
    });
  }

  /** Puts the list together again from its pages. `current`: those that were read just now. */
  async #again(signal: AbortSignal, current: readonly KnownPage[] = []): Promise<void> {
    const count = Math.min(Math.max(this.#pages.length, 1), PAGES_AGAIN);
    let rows: LazyRows<Entry> = LazyRows.empty(idOf);
    const pages: KnownPage[] = [];
    while (pages.length < count && rows.next !== null) {
      const cursor: string | undefined = rows.next;
      const page = current.find((one) => one.cursor === cursor) ?? (await this.#read(cursor, signal));
      if (!page) break;
      rows = rows.withPage(page.body);
      pages.push(page);
    }
    this.#pages = pages;
    this.#isAhead = false;
    this.#set({ rows });
  }

  /** Returns a page as it is now: the known one itself, if it has not changed. */
  async #read(cursor: string | undefined, signal: AbortSignal): Promise<KnownPage | undefined> {
    const known = this.#knownAt(cursor);
    const read = await this.#source.page({ cursor, known: known?.etag, signal });
    return read ? { ...read, cursor } : known;
  }

  #knownAt(cursor: string | undefined): KnownPage | undefined {
    return this.#pages.find((page) => page.cursor === cursor);
  }

  #set(change: Partial<ListState>): void {
    if (this.#abort.signal.aborted) return;
    this.state.set({ ...this.state.value, problem: undefined, ...change });
  }

  /** Runs one request after the other: two answers at once would overwrite each other. */
  #once(ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#abort;
    const next = (this.#running ?? Promise.resolve()).then(async () => {
      if (signal.aborted) return;
      try {
        await ask(signal);
      } catch (error) {
        if (!isAbort(error)) this.#set({ problem: problemOf(error) });
      }
      if (this.#running === next) this.#set({ ...this.state.value, isLoading: false });
    });
    this.#running = next;
    return next;
  }
}
