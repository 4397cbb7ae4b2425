import type { Entry } from '../files/entry.ts';

export interface PreviewProps {
  readonly id: string;
  /** The files of the list from which it was opened, in its order; none if an address opened it. */
  readonly listed: readonly Entry[];
  readonly onShow: (id: string) => void;
  readonly onClose: () => void;
}
