import { Observed } from '../../api/observed.ts';
import type { IconName } from '../../design/icon.tsx';
import type { MenuItem } from '../../design/menu.tsx';
import type { Entry } from './entry.ts';

/** Something that other parts of the app do with a file or folder: share it, translate it, unpack it. */
export interface EntryAction {
  readonly id: string;
  /** In the language of the page. */
  readonly label: () => string;
  readonly icon: IconName;
  readonly appliesTo: (entry: Entry) => boolean;
  /** `done` is called once the entry may have changed. */
  readonly run: (entry: Entry, done?: () => void) => void;
}

/**
 * What other parts of the app add to the files:
 * - `actions`: entries of each file's menu;
 * - `opener`: shows a file; without one it is downloaded. `siblings` are the files of the list, in its order.
 */
export const extensions = {
  actions: new Observed<readonly EntryAction[]>([]),
  opener: new Observed<((entry: Entry, siblings: readonly Entry[]) => void) | undefined>(undefined),
} as const;

/** Adds an action, once; returns the function that removes it. */
export function addEntryAction(action: EntryAction): () => void {
  const { actions } = extensions;
  actions.set([...actions.value.filter(({ id }) => id !== action.id), action]);
  return () => actions.set(actions.value.filter((each) => each !== action));
}

/** Returns those of the actions that apply to an entry, for its menu. */
export const menuItemsOf = (actions: readonly EntryAction[], entry: Entry): MenuItem[] =>
  actions
    .filter((action) => action.appliesTo(entry))
    .map(({ label, icon, run }) => ({ label: label(), icon, onSelect: () => run(entry) }));
