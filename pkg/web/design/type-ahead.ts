/** Letters that follow each other within this time are one search. */
const PAUSE_MS = 700;

/**
 * Search by typing in a list, as lists of a desktop have it: letters typed in a row are a beginning that is looked for from the
 * current entry on; the same letter again goes to the next entry that begins with it.
 */
export class TypeAhead {
  #typed = '';
  #at = 0;

  /** Returns the index of the entry to go to, or undefined. `now` in ms. */
  find(key: string, names: readonly string[], current: number, now: number): number | undefined {
    const isContinued = now - this.#at < PAUSE_MS;
    this.#typed = isContinued ? this.#typed + key.toLocaleLowerCase() : key.toLocaleLowerCase();
    this.#at = now;
    const isOneLetter = this.#typed === this.#typed.charAt(0).repeat(this.#typed.length);
    const sought = isOneLetter ? this.#typed.charAt(0) : this.#typed;
    const from = isOneLetter ? current + 1 : Math.max(current, 0);
    const order = names.map((_, step) => (from + step) % names.length);
    return order.find((index) => names[index]?.toLocaleLowerCase().startsWith(sought));
  }

  /** Says whether a space belongs to what is being typed. */
  isTyping(now: number): boolean {
    return this.#typed !== '' && now - this.#at < PAUSE_MS;
  }
}

/** Says whether a key is a letter or sign that somebody types, rather than a command. */
export const isTyped = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  key.length === 1 && !ctrlKey && !metaKey && !altKey;
