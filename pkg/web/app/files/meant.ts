import { isAbort } from '../../api/problem.ts';
import { countOf, isEmpty, isSelected, type Selection } from '../../design/grid/selection.ts';
import { failureToast } from '../failure-toast.ts';
import type { Entry } from './entry.ts';

/** What an action is for. */
export interface Meant {
  /** Those that are loaded. */
  readonly loaded: readonly Entry[];
  /** How many there are; undefined: some are not loaded. */
  readonly count: number | undefined;
  /** Does something with all of them: at once, unless some must be loaded first. Says what went wrong then. */
  readonly withAll: (action: (entries: readonly Entry[]) => unknown) => void;
}

export const meantAlone = (entry: Entry): Meant => ({ loaded: [entry], count: 1, withAll: (action) => void action([entry]) });

interface Listed {
  /** What is loaded of the list, and how long the list is; undefined: that is not known. */
  readonly rows: { readonly loaded: readonly Entry[]; readonly total: number | undefined };
  readonly chosen: (selection: Selection) => Promise<readonly Entry[]>;
}

/** What is selected; undefined: nothing is. */
export function meantBy(selection: Selection, { rows, chosen }: Listed): Meant | undefined {
  if (isEmpty(selection)) return undefined;
  const loaded = rows.loaded.filter(({ id }) => isSelected(selection, id));
  const count = countOf(selection, rows.total);
  return {
    loaded,
    count,
    withAll: (action) => {
      if (count !== undefined) return void action(loaded);
      void chosen(selection).then(action, (error: unknown) => {
        // The person has left the list.
        if (!isAbort(error)) failureToast(error);
      });
    },
  };
}
