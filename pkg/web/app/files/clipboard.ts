import { Observed } from '../../api/observed.ts';
import { toasts } from '../../design/toast.tsx';
import { count } from '../../text/files.ts';
import { onLeave } from '../leaving.ts';
import type { Entry } from './entry.ts';

/** What somebody has cut or copied, until it is pasted. It stays within the tab: the system's clipboard cannot hold it. */
export interface Clip {
  readonly kind: 'cut' | 'copy';
  readonly entries: readonly Entry[];
}

export const clip = new Observed<Clip | undefined>(undefined);
onLeave(() => clip.set(undefined));

/** Keeps entries until they are pasted, and says so. */
export function take(kind: Clip['kind'], entries: readonly Entry[]): void {
  if (entries.length === 0) return;
  clip.set({ kind, entries });
  toasts.show({ text: kind === 'cut' ? count('cutDone', entries.length) : count('copyDone', entries.length) });
}
