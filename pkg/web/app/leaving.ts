/** What this tab holds for the person who is signed in. */
const held = new Set<() => void>();

/** Drops something when the person signs out: the next one must neither see nor use it. */
export const onLeave = (drop: () => void): void => void held.add(drop);

/** Called when the person has signed out. */
export function leave(): void {
  for (const drop of held) drop();
}
