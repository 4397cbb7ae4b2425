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

/** The last rows as they were read last, the last one first. */
type KnownEnd = Tagged<readonly Entry[]>;

/** A part of the list as it is now. */
interface Current {
  readonly pages?: readonly KnownPage[];
  readonly end?: KnownEnd;
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
  /** Undefined: nobody has asked for the end, or the pages are the whole list. */
  #end: KnownEnd | undefined;
  /** A change is shown of which the pages do not know. */
  #isAhead = false;
  #running: Promise<void> | undefined;
  /** All rows, while they are being loaded. */
  #all: Promise<readonly Entry[]> | undefined;
  /** The reload that waits for them. */
  #due: Promise<void> | undefined;

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
    if (this.state.value.rows.isEndLoaded) return;
    const { end } = this.#source;
    if (!end) {
      // The list itself shows what went wrong.
      await this.all().catch(() => undefined);
      return;
    }
    await this.#once(async (signal) => {
      const read = await end({ signal });
      if (!read) return;
      this.#end = read;
      this.#set({ rows: this.state.value.rows.withEnd(read.body) });
    });
  }

  /** Loads all that is missing, and returns all rows. Throws what went wrong, and what `stop` aborted. */
  all(): Promise<readonly Entry[]> {
    return (this.#all ??= this.#loadAll().finally(() => (this.#all = undefined)));
  }

  /** Asks whether the pages of these rows have changed, and brings the list up to date if one has. */
  refresh(start = 0, end = start): Promise<void> {
    return this.#afterAll(() => this.#once((signal) => this.#refresh(start, end, signal)));
  }

  /** Reads the list again: something in it was changed here. */
  reload(): Promise<void> {
    if (!this.#all) return this.#once((signal) => this.#again(signal));
    return (this.#due ??= this.#afterAll(() => {
      this.#due = undefined;
      return this.reload();
    }));
  }

  /** Shows a change at once; the next refresh brings what the server made of it. */
  change(to: (rows: LazyRows<Entry>) => LazyRows<Entry>): void {
    this.#isAhead = true;
    this.#set({ rows: to(this.state.value.rows) });
  }

  async #loadAll(): Promise<readonly Entry[]> {
    while (this.state.value.rows.next !== null) {
      await this.more();
      this.#abort.signal.throwIfAborted();
      const { problem } = this.state.value;
      if (problem) throw problem;
    }
    return this.state.value.rows.loaded;
  }

  /** Waits until all rows are loaded, if they are to be: they never would be in a list that is cut back meanwhile. */
  #afterAll(ask: () => Promise<void>): Promise<void> {
    return this.#all ? this.#all.then(ask, ask) : ask();
  }

  async #refresh(start: number, end: number, list: AbortSignal): Promise<void> {
    // Nobody waits for what others may have changed.
    const signal = inBackground(AbortSignal.any([list]));
    // What failed at its beginning is asked for again by its button.
    if (this.#pages.length === 0) return;
    if (this.#isAhead) return this.#again(signal);
    const pages: KnownPage[] = [];
    for (const { cursor } of this.#pagesOf(start, end)) {
      const known = this.#knownAt(cursor);
      const page = await this.#read(cursor, signal);
      if (page) pages.push(page);
      if (page !== known) return this.#again(signal, { pages });
    }
    const inPages = this.#pages.reduce((sum, { body }) => sum + body.rows.length, 0);
    if (this.#end && end >= inPages) {
      const last = await this.#readEnd(this.#end, signal);
      if (last !== this.#end) return this.#again(signal, { pages, end: last });
    }
    if (this.state.value.problem) this.#set({});
  }

  #pagesOf(start: number, end: number): readonly KnownPage[] {
    let first = 0;
    return this.#pages.filter(({ body }, index) => {
      const from = first;
      first += body.rows.length;
      return index === 0 || (from <= end && first > start);
    });
  }

  /** Puts the list together again from its pages, and its end if it was loaded. `current`: what was read just now. */
  async #again(signal: AbortSignal, current: Current = {}): Promise<void> {
    const count = Math.min(Math.max(this.#pages.length, 1), PAGES_AGAIN);
    let rows: LazyRows<Entry> = LazyRows.empty(idOf);
    const pages: KnownPage[] = [];
    while (pages.length < count && rows.next !== null) {
      const cursor: string | undefined = rows.next;
      const page = current.pages?.find((one) => one.cursor === cursor) ?? (await this.#read(cursor, signal));
      if (!page) break;
      rows = rows.withPage(page.body);
      pages.push(page);
    }
    const isWhole = rows.next === null;
    const end = this.#end && !isWhole ? (current.end ?? (await this.#readEnd(this.#end, signal))) : undefined;
    this.#pages = pages;
    this.#end = end;
    this.#isAhead = false;
    this.#set({ rows: end ? rows.withEnd(end.body) : rows });
  }

  /** Returns a page as it is now: the known one itself, if it has not changed. */
  async #read(cursor: string | undefined, signal: AbortSignal): Promise<KnownPage | undefined> {
    const known = this.#knownAt(cursor);
    const read = await this.#source.page({ cursor, known: known?.etag, signal });
    return read ? { ...read, cursor } : known;
  }

  /** Returns the end as it is now: the known one itself, if it has not changed. */
  async #readEnd(known: KnownEnd, signal: AbortSignal): Promise<KnownEnd> {
    return (await this.#source.end?.({ known: known.etag, signal })) ?? known;
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
