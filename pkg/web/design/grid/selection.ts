/** What is selected in a list: some of its rows, or all there are, loaded or not, except some. */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<string> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<string> };

export const NOTHING: Selection = { kind: 'some', ids: new Set() };
export const EVERYTHING: Selection = { kind: 'all', except: new Set() };

export const selectionOf = (ids: Iterable<string>): Selection => ({ kind: 'some', ids: new Set(ids) });

export const isSelected = (selection: Selection, id: string): boolean =>
  selection.kind === 'some' ? selection.ids.has(id) : !selection.except.has(id);

/** Adds what is not selected, and takes away what is. */
export function toggled(selection: Selection, id: string): Selection {
  return selection.kind === 'some'
    ? { kind: 'some', ids: without(selection.ids, id) }
    : { kind: 'all', except: without(selection.except, id) };
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const changed = new Set(ids);
  if (!changed.delete(id)) changed.add(id);
  return changed;
}

/** Adds these. */
export function added(selection: Selection, ids: Iterable<string>): Selection {
  if (selection.kind === 'some') return { kind: 'some', ids: new Set([...selection.ids, ...ids]) };
  const except = new Set(selection.except);
  for (const id of ids) except.delete(id);
  return { kind: 'all', except };
}

/**
 * Returns the ids from one row to another, in either direction. A range ends at the first row that is not loaded: nobody has seen
 * what is behind it.
 */
export function rangeOf(from: number, to: number, idAt: (index: number) => string | undefined): string[] {
  const step = from <= to ? 1 : -1;
  const ids: string[] = [];
  for (let index = from; index !== to + step; index += step) {
    const id = idAt(index);
    if (id === undefined) break;
    ids.push(id);
  }
  return ids;
}

/** Returns how many of `total` rows are selected; undefined if that is not known. */
export function countOf(selection: Selection, total: number | undefined): number | undefined {
  if (selection.kind === 'some') return selection.ids.size;
  return total === undefined ? undefined : total - selection.except.size;
}

export const isEmpty = (selection: Selection): boolean => selection.kind === 'some' && selection.ids.size === 0;

/** Drops what a list no longer has, such as after a deletion. All but some stays as it is. */
export function kept(selection: Selection, has: (id: string) => boolean): Selection {
  if (selection.kind === 'all') return selection;
  const ids = [...selection.ids].filter(has);
  return ids.length === selection.ids.size ? selection : selectionOf(ids);
}
