import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isTyped, TypeAhead } from '../type-ahead.ts';
import { GridHead } from './grid-head.tsx';
import { GridRow } from './grid-row.tsx';
import type { GridProps } from './grid-props.ts';
import { type Cell, moved } from './moves.ts';
import { EVERYTHING, isEmpty, isSelected, NOTHING, rangeOf, selectionOf, toggled } from './selection.ts';
import { useVisibleRows } from './use-visible-rows.ts';
import './grid.css';

/** The first column is the box that selects a row, the second its name. */
const NAME_COLUMN = 1;
/** Where keys are text, or belong to what lies on top of the grid. */
const NOT_OURS = 'input:not([type=checkbox]), textarea, select, [role=menu], dialog';
const CONTROLS = 'a, button, input, label, textarea, select';

/**
 * A list as a table, of which only the rows on the screen exist: `role="grid"` with one stop of the Tab key. The arrows move,
 * Space selects, Shift extends, Ctrl+A selects all, letters search, Enter opens. Rows have one height, so that nothing must be
 * measured; padding stands for those that do not exist.
 */
export function Grid<Row>(props: GridProps<Row>) {
  const { label, columns, rows, idOf, nameOf, selection, onSelection, onOpen, onMenu } = props;
  const table = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const search = useRef(new TypeAhead()).current;
  const [at, setAt] = useState<Cell>({ row: 0, column: NAME_COLUMN });
  /** The row from which Shift extends. */
  const anchor = useRef(0);
  /** The focus is in the grid, and goes where `at` is. */
  const isFocused = useRef(false);
  /** The row of the first click of a double click: by the second one another may be there. */
  const clicked = useRef<string | undefined>(undefined);
  const visible = useVisibleRows(body, rows.count);
  /** What the last rendering was given: an answer may arrive between a key and its effect. */
  const latest = useRef({ rows, reveal: visible.reveal });
  latest.current = { rows, reveal: visible.reveal };
  const columnCount = columns.length + 1;

  const idAt = (index: number): string | undefined => {
    const row = latest.current.rows.at(index);
    return row === undefined ? undefined : idOf(row);
  };

  useEffect(() => props.onRange?.(visible.start, visible.end), [visible.start, visible.end, rows]);
  const focusedId = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    // A row that was renamed, or before which another came, takes the focus along.
    const id = focusedId.current;
    const index = id === undefined || idAt(at.row) === id ? -1 : (rows.indexOf?.(id) ?? -1);
    if (index !== -1) return setAt({ ...at, row: index });
    // Fewer rows than before: the place of the keyboard stays among them.
    if (at.row >= rows.count) setAt({ ...at, row: Math.max(0, rows.count - 1) });
  }, [rows]);
  useLayoutEffect(() => void (focusedId.current = idAt(at.row)), [at, rows]);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    // A field in a cell keeps the focus, wherever its row goes; so does what somebody has gone to outside of the grid.
    if (!isFocused.current || focused?.closest(NOT_OURS)) return;
    if (focused !== document.body && !table.current?.contains(focused)) return;
    const cell = elementOf(table.current, at);
    // A row that leaves the screen takes its element along: the table holds the focus for it.
    if (cell && !cell.contains(document.activeElement)) cell.focus({ preventScroll: true });
    else if (!cell && document.activeElement === document.body) table.current?.focus({ preventScroll: true });
  }, [at, visible.start, visible.end, rows]);

  const extend = (to: number): void => onSelection(selectionOf(rangeOf(anchor.current, to, idAt)));
  const toggle = (index: number): void => {
    const id = idAt(index);
    anchor.current = index;
    if (id !== undefined) onSelection(toggled(selection, id));
  };
  const go = (to: Cell): void => {
    isFocused.current = true;
    setAt(to);
    if (to.row >= 0) latest.current.reveal(to.row);
  };

  const target = (key: string, isMod: boolean): Cell | undefined =>
    moved(at, key, isMod, {
      rows: latest.current.rows.count,
      columns: columnCount,
      page: Math.max(1, Math.floor(window.innerHeight / visible.row) - 4),
      isRtl: table.current !== null && getComputedStyle(table.current).direction === 'rtl',
    });
  const move = (key: string, isMod: boolean, isShift: boolean): void => {
    const to = target(key, isMod) ?? at;
    go(to);
    if (isShift && to.row >= 0) extend(to.row);
    else if (to.row >= 0 && to.row !== at.row) anchor.current = to.row;
  };

  const press = (event: KeyboardEvent): void => {
    const element = event.target as HTMLElement;
    if (event.defaultPrevented || element.closest(NOT_OURS)) return;
    const { key, shiftKey } = event;
    const isMod = event.ctrlKey || event.metaKey;
    // With Alt the arrows are the browser's.
    if (!event.altKey && target(key, isMod)) {
      event.preventDefault();
      const isEnd = key === 'End' && !isMod && props.onEnd !== undefined;
      if (isEnd) void props.onEnd?.().then(() => move(key, isMod, shiftKey));
      else move(key, isMod, shiftKey);
      return;
    }
    const row = at.row >= 0 ? rows.at(at.row) : undefined;
    const isSpace = key === ' ' && !search.isTyping(event.timeStamp);
    const does = (action: () => void): void => {
      event.preventDefault();
      action();
    };
    if (isSpace && at.row >= 0) return does(() => (shiftKey ? extend(at.row) : toggle(at.row)));
    if (isMod && key.toLowerCase() === 'a') return does(() => onSelection(EVERYTHING));
    if (key === 'Escape' && !isEmpty(selection)) return does(() => onSelection(NOTHING));
    if (key === 'Enter' && !event.altKey && row !== undefined && !element.closest('button, a')) {
      const inner = elementOf(table.current, at)?.querySelector<HTMLElement>('button, a');
      return does(() => (at.column > NAME_COLUMN && inner ? inner.click() : onOpen(row)));
    }
    if (onMenu && row !== undefined && (key === 'ContextMenu' || (shiftKey && key === 'F10'))) {
      const { left = 0, bottom = 0 } = elementOf(table.current, { ...at, column: NAME_COLUMN })?.getBoundingClientRect() ?? {};
      return does(() => onMenu(row, { x: left, y: bottom }));
    }
    // `/` and `?` are shortcuts of the page.
    if (!isTyped(event) || isSpace || !/[\p{L}\p{N} ]/u.test(key)) return props.onKey?.(event, row);
    event.preventDefault();
    const names = Array.from({ length: rows.count }, (_, index) => {
      const each = rows.at(index);
      return each === undefined ? '' : nameOf(each);
    });
    const found = search.find(key, names, at.row, event.timeStamp);
    if (found !== undefined) go({ row: found, column: NAME_COLUMN });
  };

  const click = (event: MouseEvent, index: number): void => {
    const id = idAt(index);
    if (event.detail === 1) clicked.current = id;
    if (id === undefined || (event.target as HTMLElement).closest(CONTROLS)) return;
    isFocused.current = true;
    setAt({ row: index, column: NAME_COLUMN });
    if (event.shiftKey) return extend(index);
    anchor.current = index;
    onSelection(event.ctrlKey || event.metaKey ? toggled(selection, id) : selectionOf([id]));
  };
  const cellProps = (row: number, column: number) => ({
    'data-row': row,
    'data-column': column,
    'aria-colindex': column + 1,
    tabIndex: at.row === row && at.column === column ? 0 : -1,
    onFocusIn: () => {
      isFocused.current = true;
      if (at.row !== row || at.column !== column) setAt({ row, column });
    },
  });

  return (
    <table
      ref={table}
      role="grid"
      class="c-grid"
      tabIndex={-1}
      aria-label={label}
      aria-describedby={props.describedBy}
      aria-rowcount={rows.total === undefined ? -1 : rows.total + 1}
      aria-colcount={columnCount}
      aria-multiselectable="true"
      style={{ '--tracks': `3rem ${columns.map(({ width }) => width).join(' ')}` }}
      onKeyDown={press}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !table.current?.contains(relatedTarget)) isFocused.current = false;
      }}
    >
      <GridHead
        columns={columns}
        sorting={props.sorting}
        onSort={props.onSort}
        selection={selection}
        total={rows.total}
        selectAllLabel={props.selectAllLabel}
        onSelection={onSelection}
        cellProps={(column) => cellProps(-1, column)}
      />
      <tbody
        ref={body}
        role="rowgroup"
        class="c-grid-body"
        style={{
          paddingBlockStart: `${visible.start * visible.row}px`,
          paddingBlockEnd: `${(rows.count - visible.end) * visible.row}px`,
        }}
      >
        {Array.from({ length: visible.end - visible.start }, (_, offset) => {
          const index = visible.start + offset;
          const row = rows.at(index);
          return (
            <GridRow
              key={row === undefined ? `gap-${index}` : idOf(row)}
              index={index}
              row={row}
              columns={columns}
              isSelected={row !== undefined && isSelected(selection, idOf(row))}
              selectLabel={row === undefined ? '' : props.selectLabel(nameOf(row))}
              cellProps={cellProps}
              onToggle={() => toggle(index)}
              onClick={(event) => click(event, index)}
              onOpen={(opened) => clicked.current === idOf(opened) && onOpen(opened)}
              onMenu={onMenu && ((chosen, where) => (setAt({ row: index, column: NAME_COLUMN }), onMenu(chosen, where)))}
              more={row === undefined ? undefined : props.rowProps?.(row)}
            />
          );
        })}
      </tbody>
    </table>
  );
}

const elementOf = (table: HTMLElement | null, { row, column }: Cell): HTMLElement | null | undefined =>
  table?.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`);
