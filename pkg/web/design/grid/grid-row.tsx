import { Checkbox } from '../checkbox.tsx';
import { classes } from '../classes.ts';
import type { Column, GridProps } from './grid-props.ts';

interface Props<Row> {
  readonly index: number;
  /** Undefined: it is not loaded. */
  readonly row: Row | undefined;
  readonly columns: readonly Column<Row>[];
  readonly isSelected: boolean;
  readonly selectLabel: string;
  /** The attributes of a cell, by which the keyboard finds it. */
  readonly cellProps: (row: number, column: number) => object;
  readonly onToggle: () => void;
  readonly onClick: (event: MouseEvent) => void;
  readonly onOpen: (row: Row) => void;
  readonly onMenu: GridProps<Row>['onMenu'];
  readonly more: Readonly<Record<string, unknown>> | undefined;
}

/** One row of a grid; bars where it is not loaded. */
export function GridRow<Row>(props: Props<Row>) {
  const { index, row, columns, isSelected, selectLabel, cellProps, onToggle, onClick, onOpen, onMenu, more } = props;
  return (
    <tr
      {...more}
      role="row"
      // The headings are the first row.
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      class={classes('c-grid-row', isSelected && 'c-grid-selected')}
      onClick={onClick}
      onDblClick={(event) => {
        if (row !== undefined && !(event.target as HTMLElement).closest('a, button, input, label')) onOpen(row);
      }}
      onContextMenu={(event) => {
        if (row === undefined || !onMenu) return;
        event.preventDefault();
        onMenu(row, { x: event.clientX, y: event.clientY });
      }}
    >
      <td role="gridcell" class="c-grid-cell c-grid-check" {...cellProps(index, 0)}>
        {row !== undefined && (
          <Checkbox isLabelHidden label={selectLabel} isChecked={isSelected} tabIndex={-1} onChange={onToggle} />
        )}
      </td>
      {columns.map((column, position) => (
        <td
          key={column.key}
          role={position === 0 ? 'rowheader' : 'gridcell'}
          class={classes('c-grid-cell', column.isAtEnd && 'c-grid-end', `c-grid-of-${column.key}`)}
          {...cellProps(index, position + 1)}
        >
          {row === undefined ? <span class="c-grid-bar" aria-hidden="true" /> : column.cell(row)}
        </td>
      ))}
    </tr>
  );
}
