import type { RefObject } from 'preact';
import type { Entry } from '../files/entry.ts';

/** What keys do with the shown file, by `KeyboardEvent.key`; `Mod+` before it: with Ctrl, on a Mac with Command. */
export type Keys = Readonly<Record<string, () => void>>;

export interface ViewerProps {
  readonly entry: Entry;
  /** What scrolls. */
  readonly stage: RefObject<HTMLElement | null>;
  /** The viewer puts its keys here while it is shown. */
  readonly keys: RefObject<Keys>;
  /** What a frame got that is a key of the preview. */
  readonly onKey: (key: string) => void;
  /** The viewer has found that the file is another by now. */
  readonly onChanged: () => void;
  /** Shows the card of the file in place of what cannot be shown, and why. */
  readonly onRefuse: (why: string) => void;
}
