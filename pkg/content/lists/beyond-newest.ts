import { LRUCache } from 'lru-cache';

const PEOPLE_MAX = 1_000;

/** Who has more names than the newest, and looks for what few of them have: the newest are read in vain. */
export class BeyondNewest {
  readonly #people = new LRUCache<number, true>({ max: PEOPLE_MAX });

  has(userId: number): boolean {
    return this.#people.has(userId);
  }

  /** `isBeyond`: the last names that this person looked for were few, and not all of them among the newest. */
  note(userId: number, isBeyond: boolean): void {
    if (isBeyond) this.#people.set(userId, true);
    else this.#people.delete(userId);
  }
}
