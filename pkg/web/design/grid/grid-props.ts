import type { ComponentChildren } from 'preact';
import type { Selection } from './selection.ts';

export interface Sorting {
  readonly key: string;
  readonly isDescending: boolean;
}

export interface Column<Row> {
  readonly key: string;
  readonly label: string;
  /** A track of CSS grid: `minmax(12rem, 1fr)`, `8rem`. */
  readonly width: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isSortable?: boolean | undefined;
  readonly isLabelHidden?: boolean | undefined;
  /** At the end of its track: numbers. */
  readonly isAtEnd?: boolean | undefined;
}

/** The rows; `at` returns undefined for one that is not loaded. `total` is undefined while nobody knows the length. */
export interface Rows<Row> {
  readonly count: number;
  readonly total: number | undefined;
  readonly at: (index: number) => Row | undefined;
  /** −1: it is not loaded, or gone. With it the focus follows a row whose place changes. */
  readonly indexOf?: (id: string) => number;
}

export interface GridProps<Row> {
  readonly label: string;
  /** The id of the element that says how many rows there are, as far as anybody knows. */
  readonly describedBy?: string | undefined;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: Rows<Row>;
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly selection: Selection;
  readonly onSelection: (selection: Selection) => void;
  readonly selectLabel: (name: string) => string;
  readonly selectAllLabel: string;
  readonly sorting?: Sorting | undefined;
  readonly onSort?: ((key: string) => void) | undefined;
  readonly onOpen: (row: Row) => void;
  /** A click with the right button, or the key for it. */
  readonly onMenu?: ((row: Row, at: { readonly x: number; readonly y: number }) => void) | undefined;
  /** Keys that the grid does not use: rename, delete, copy. `row` is the one with the focus. */
  readonly onKey?: ((event: KeyboardEvent, row: Row | undefined) => void) | undefined;
  /** The rows that are about to be seen, after each change of them. */
  readonly onRange?: ((start: number, end: number) => void) | undefined;
  /** The End key: resolves when the last row can be shown. */
  readonly onEnd?: (() => Promise<void>) | undefined;
  /** More attributes of a row: what can be dragged, or dropped on. */
  readonly rowProps?: ((row: Row) => Readonly<Record<string, unknown>>) | undefined;
}
