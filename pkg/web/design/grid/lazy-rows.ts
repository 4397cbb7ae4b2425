/** A page of a list, and where the next one begins; null: nowhere. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

/**
 * The rows of a long list of which only the beginning, and perhaps the end, are loaded. The beginning grows page by page. The end
 * is read in the opposite order, so that the End key needs one request whatever the length of the list. Where the two meet, the
 * list is whole.
 *
 * Invariants:
 * - No row is there twice, whichever side it came from.
 * - While rows between beginning and end are missing, exactly one gap stands for them.
 */
export class LazyRows<Row> {
  readonly #head: readonly Row[];
  /** In the order of the list. */
  readonly #tail: readonly Row[];
  /** Where the head goes on; null: the list is whole; undefined: nothing is loaded. */
  readonly next: string | null | undefined;
  readonly #idOf: (row: Row) => string;

  private constructor(head: readonly Row[], tail: readonly Row[], next: string | null | undefined, idOf: (row: Row) => string) {
    this.#head = head;
    this.#tail = tail;
    this.next = next;
    this.#idOf = idOf;
  }

  static empty<Row>(idOf: (row: Row) => string): LazyRows<Row> {
    return new LazyRows<Row>([], [], undefined, idOf);
  }

  /** Rows, and the gap if there is one. */
  get count(): number {
    return this.#head.length + (this.gap === undefined ? 0 : 1) + this.#tail.length;
  }

  /** The index of the gap; undefined if the list is whole. */
  get gap(): number | undefined {
    return this.next === null ? undefined : this.#head.length;
  }

  /** How many rows the list has; undefined while some are missing. */
  get total(): number | undefined {
    return this.next === null ? this.#head.length : undefined;
  }

  get isEndLoaded(): boolean {
    return this.next === null || this.#tail.length > 0;
  }

  get loaded(): readonly Row[] {
    return [...this.#head, ...this.#tail];
  }

  at(index: number): Row | undefined {
    if (index < this.#head.length) return this.#head[index];
    const gap = this.gap;
    return gap === undefined ? undefined : this.#tail[index - gap - 1];
  }

  indexOf(id: string): number {
    const inHead = this.#head.findIndex((row) => this.#idOf(row) === id);
    if (inHead !== -1) return inHead;
    const inTail = this.#tail.findIndex((row) => this.#idOf(row) === id);
    return inTail === -1 ? -1 : this.#head.length + 1 + inTail;
  }

  /** Returns the list with one more page of the beginning. */
  withPage({ rows, next }: Page<Row>): LazyRows<Row> {
    const known = new Set(this.#head.map(this.#idOf));
    const head = [...this.#head, ...rows.filter((row) => !known.has(this.#idOf(row)))];
    if (this.#tail.length === 0 || next === null) return new LazyRows(head, [], next, this.#idOf);
    // A row of the tail among the rows of the head: the two have met, and the rest of the tail follows.
    const ids = new Set(head.map(this.#idOf));
    const isMet = this.#tail.some((row) => ids.has(this.#idOf(row)));
    if (!isMet) return new LazyRows(head, this.#tail, next, this.#idOf);
    return new LazyRows([...head, ...this.#tail.filter((row) => !ids.has(this.#idOf(row)))], [], null, this.#idOf);
  }

  /** Returns the list with its end, whose rows come in the opposite order. */
  withEnd(reversed: readonly Row[]): LazyRows<Row> {
    if (this.next === null) return this;
    const tail = reversed.toReversed();
    const known = new Set(this.#head.map(this.#idOf));
    if (!tail.some((row) => known.has(this.#idOf(row)))) return new LazyRows(this.#head, tail, this.next, this.#idOf);
    return new LazyRows([...this.#head, ...tail.filter((row) => !known.has(this.#idOf(row)))], [], null, this.#idOf);
  }

  /** Returns the list with a row changed; the same list if it has no such row. */
  withRow(row: Row): LazyRows<Row> {
    const id = this.#idOf(row);
    if (this.indexOf(id) === -1) return this;
    const change = (rows: readonly Row[]): readonly Row[] => rows.map((each) => (this.#idOf(each) === id ? row : each));
    return new LazyRows(change(this.#head), change(this.#tail), this.next, this.#idOf);
  }

  /** Returns the list without some rows. */
  without(ids: ReadonlySet<string>): LazyRows<Row> {
    const left = (rows: readonly Row[]): readonly Row[] => rows.filter((row) => !ids.has(this.#idOf(row)));
    return new LazyRows(left(this.#head), left(this.#tail), this.next, this.#idOf);
  }
}
