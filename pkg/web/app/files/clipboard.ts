import { Observed } from '../../api/observed.ts';
import { onLeave } from '../leaving.ts';
import type { Entry } from './entry.ts';

/** What somebody has cut or copied, until it is pasted. It stays within the tab: the system's clipboard cannot hold it. */
export interface Clip {
  readonly kind: 'cut' | 'copy';
  readonly entries: readonly Entry[];
}

export const clip = new Observed<Clip | undefined>(undefined);
onLeave(() => clip.set(undefined));
