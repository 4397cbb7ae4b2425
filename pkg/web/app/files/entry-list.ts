import type { Tagged } from '../../api/client.ts';
import { Observed } from '../../api/observed.ts';
import { type ApiProblem, isAbort, problemOf } from '../../api/problem.ts';
import { inBackground } from '../../api/slow-requests.ts';
import { LazyRows } from '../../design/grid/lazy-rows.ts';
import { type Entry, idOf } from './entry.ts';
import { type KnownPage, rowsOf, withPageRead } from './known-pages.ts';
import { leavingFrom, leavingNow } from './leaving-entries.ts';
import { untilSignOut } from './running.ts';
import type { Source } from './sources.ts';

export interface ListState {
  readonly rows: LazyRows<Entry>;
  readonly isLoading: boolean;
  readonly problem: ApiProblem | undefined;
}

/** The last rows as they were read last, the last one first. */
type KnownEnd = Tagged<readonly Entry[]>;

/** A part of the list as it is now. */
interface Current {
  readonly pages?: readonly KnownPage[];
  readonly end?: KnownEnd;
}

/**
 * So many pages are read again after a change. Of a longer list only the first and those that are seen are, and those of which
 * something was taken out here; others follow when somebody looks at them.
 */
const PAGES_AGAIN = 10;

/**
 * The rows of a source as they are loaded, and kept like the server's. Everything is asked once at a time. A failure stays in
 * `problem` until something succeeds.
 *
 * Invariant: a row that is being taken out is not shown, whatever was read before that has ended.
 */
export class EntryList {
  readonly state: Observed<ListState>;
  readonly #source: Source;
  readonly #abort = new AbortController();
  readonly #untilSignOut = untilSignOut();
  #pages: readonly KnownPage[] = [];
  /** Undefined: nobody has asked for the end, or the pages are the whole list. */
  #end: KnownEnd | undefined;
  /** The rows on the screen. */
  #seen = { start: 0, end: 0 };
  /** What was taken out here since the pages were read. */
  #taken: ReadonlySet<string> = new Set();
  /** A change is shown of which the pages do not know. */
  #isAhead = false;
  #running: Promise<void> | undefined;
  /** What was being taken out when the running request began. Its answer may still have that. */
  #leaving: ReadonlySet<string> = new Set();
  /** All rows, while they are being loaded. */
  #all: Promise<readonly Entry[]> | undefined;
  /** An action waits for them. */
  #isForAction = false;
  /** The reload that waits for them. */
  #due: Promise<void> | undefined;

  constructor(source: Source) {
    this.#source = source;
    this.state = new Observed<ListState>({ rows: LazyRows.empty(idOf), isLoading: true, problem: undefined });
  }

  /**
   * Ends the requests of a list that nobody looks at any more. An action that is for all rows still gets them, unless the person
   * signs out.
   */
  stop(): void {
    const abort = (): void => this.#abort.abort();
    if (!this.#all || !this.#isForAction || this.#untilSignOut.aborted) return abort();
    this.#all.then(abort, abort);
    this.#untilSignOut.addEventListener('abort', abort, { signal: this.#abort.signal });
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
      await this.#whole().catch(() => undefined);
      return;
    }
    await this.#once(async (signal) => {
      const read = await end({ signal });
      if (!read) return;
      this.#end = read;
      this.#set({ rows: this.state.value.rows.withEnd(read.body) });
    });
  }

  /** Loads all that is missing for an action, and returns all rows. Throws what went wrong, and AbortError after a sign-out. */
  all(): Promise<readonly Entry[]> {
    this.#isForAction = true;
    return this.#whole();
  }

  /** Says which rows are on the screen: a long list is brought up to date there. */
  see(start: number, end: number): void {
    this.#seen = { start, end };
  }

  /** Asks whether the pages of these rows have changed, and brings the list up to date if one has. */
  refresh(start = 0, end = start): Promise<void> {
    this.see(start, end);
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

  /**
   * Takes rows out of this list and all others of its location, while something takes them out on the server. Returns the
   * function that ends that; what `reload` then finds is shown.
   */
  leave(ids: ReadonlySet<string>): () => void {
    // What is only put into this list by it, as what is restored from a toast, is shown as it comes.
    const shown = this.state.value.rows.loaded.map(idOf).filter((id) => ids.has(id));
    this.#taken = new Set([...this.#taken, ...shown]);
    const end = leavingNow(this.#location, new Set(shown));
    this.change((rows) => rows.without(ids));
    return end;
  }

  #whole(): Promise<readonly Entry[]> {
    return (this.#all ??= this.#loadAll().finally(() => {
      this.#all = undefined;
      this.#isForAction = false;
    }));
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
    const isLong = this.#pages.length > PAGES_AGAIN;
    const pages = (isLong ? await this.#seenAgain(signal, current) : undefined) ?? (await this.#firstAgain(signal, current));
    const last = pages.at(-1);
    const none = LazyRows.empty<Entry>(idOf);
    const rows = last ? none.withPage({ rows: rowsOf(pages), next: last.body.next }) : none;
    const isWhole = rows.next === null;
    const end = this.#end && !isWhole ? (current.end ?? (await this.#readEnd(this.#end, signal))) : undefined;
    this.#pages = pages;
    this.#end = end;
    this.#isAhead = false;
    // These pages may still have what is being taken out.
    this.#taken = this.#takenOut();
    this.#set({ rows: end ? rows.withEnd(end.body) : rows });
  }

  /** Reads the first pages again. */
  async #firstAgain(signal: AbortSignal, current: Current): Promise<readonly KnownPage[]> {
    const count = Math.min(Math.max(this.#pages.length, 1), PAGES_AGAIN);
    const pages: KnownPage[] = [];
    for (let cursor: string | null | undefined; pages.length < count && cursor !== null; cursor = pages.at(-1)?.body.next) {
      const page: KnownPage | undefined = await this.#readOnce(cursor, signal, current);
      if (!page) break;
      pages.push(page);
    }
    return pages;
  }

  /** Reads of a long list the pages again that matter, and keeps the others. Undefined: those are too many. */
  async #seenAgain(signal: AbortSignal, current: Current): Promise<readonly KnownPage[] | undefined> {
    const { start, end } = this.#seen;
    const { rows } = this.state.value;
    const ids = new Set(this.#taken);
    for (let index = start; index <= end; index += 1) {
      const row = rows.at(index);
      if (row) ids.add(row.id);
    }
    let pages: readonly KnownPage[] = this.#pages;
    let count = 0;
    for (let at = 0; at < pages.length; at += 1) {
      const page = pages[at];
      if (!page || (at > 0 && !page.body.rows.some(({ id }) => ids.has(id)))) continue;
      count += 1;
      if (count > PAGES_AGAIN) return undefined;
      const read = await this.#readOnce(page.cursor, signal, current);
      if (read && read !== page) pages = withPageRead(pages, at, read);
    }
    return pages;
  }

  /** Returns a page as it was read just now, or is now. */
  async #readOnce(cursor: string | undefined, signal: AbortSignal, { pages }: Current): Promise<KnownPage | undefined> {
    return pages?.find((page) => page.cursor === cursor) ?? (await this.#read(cursor, signal));
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

  get #location(): string {
    return this.#source.location ?? this.#source.key;
  }

  /** What is being taken out now, or was when the running request began. */
  #takenOut(): ReadonlySet<string> {
    return new Set([...this.#leaving, ...leavingFrom(this.#location)]);
  }

  #set(change: Partial<ListState>): void {
    if (this.#abort.signal.aborted) return;
    const { rows = this.state.value.rows } = change;
    const taken = this.#takenOut();
    this.state.set({ ...this.state.value, problem: undefined, ...change, rows: taken.size > 0 ? rows.without(taken) : rows });
  }

  /** Runs one request after the other: two answers at once would overwrite each other. */
  #once(ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#abort;
    const next = (this.#running ?? Promise.resolve()).then(async () => {
      if (signal.aborted) return;
      this.#leaving = leavingFrom(this.#location);
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
