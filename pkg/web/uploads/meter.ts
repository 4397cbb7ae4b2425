/** Measures how much of something happens in a second, over the last `span` seconds. Times are in ms. */
export class Meter {
  readonly #span: number;
  readonly #seconds: Float64Array;
  #first = 0;
  #last = -Infinity;

  constructor(span: number) {
    this.#span = span;
    this.#seconds = new Float64Array(span);
  }

  add(amount: number, now: number): void {
    if (now - this.#last > this.#span * 1_000) {
      this.#seconds.fill(0);
      this.#first = now;
    } else this.#clear(now);
    this.#last = Math.max(this.#last, now);
    const second = Math.floor(now / 1_000) % this.#span;
    this.#seconds[second] = (this.#seconds[second] ?? 0) + amount;
  }

  /** Returns undefined while less than a second was measured, or when nothing happened within the span. */
  perSecond(now: number): number | undefined {
    const elapsed = now - this.#first;
    if (elapsed < 1_000 || now - this.#last > this.#span * 1_000) return undefined;
    this.#clear(now);
    this.#last = now;
    const sum = this.#seconds.reduce((all, one) => all + one, 0);
    return sum > 0 ? sum / Math.min(elapsed / 1_000, this.#span) : undefined;
  }

  /** Empties the seconds between the last call and now: they still hold what is older than the span. */
  #clear(now: number): void {
    const from = Math.floor(this.#last / 1_000) + 1;
    for (let second = from; second <= Math.floor(now / 1_000); second += 1) this.#seconds[second % this.#span] = 0;
  }
}
