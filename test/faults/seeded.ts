/** A source of moments and choices that a seed repeats; nothing that must not be guessed comes from it. */
export interface Seeded {
  /** In [0, 1). */
  fraction(): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** Returns one of the choices, each as often as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T;
  shuffled<T>(items: readonly T[]): T[];
  /** A source of its own, the same for the same name. */
  fork(name: string): Seeded;
}

export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  // mulberry32: 32 bits of state, and more than random enough here.
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(fraction() * (to - from + 1));
  return {
    fraction,
    between,
    weighted: (choices) => {
      let left = fraction() * choices.reduce((sum, [weight]) => sum + weight, 0);
      const found = choices.find(([weight]) => (left -= weight) < 0) ?? choices.at(-1);
      if (!found) throw new Error('there is nothing to choose from');
      return found[1];
    },
    shuffled: (items) => {
      const mixed = [...items];
      for (let at = mixed.length - 1; at > 0; at -= 1) {
        const other = between(0, at);
        [mixed[at], mixed[other]] = [mixed[other] as (typeof mixed)[number], mixed[at] as (typeof mixed)[number]];
      }
      return mixed;
    },
    fork: (name) => seeded(Buffer.from(name).reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619), seed ^ 0x811c9dc5)),
  };
}
