/** The place of the keyboard in a grid. Row −1 is the row of the headings. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

interface Size {
  readonly rows: number;
  readonly columns: number;
  /** How many rows a screen shows. */
  readonly page: number;
  readonly isRtl: boolean;
}

/** Returns the cell to which a key of movement leads; undefined for other keys. `isMod`: Ctrl, or Command on a Mac. */
export function moved(at: Cell, key: string, isMod: boolean, { rows, columns, page, isRtl }: Size): Cell | undefined {
  const to = (row: number, column: number): Cell => ({
    row: Math.max(-1, Math.min(row, rows - 1)),
    column: Math.max(0, Math.min(column, columns - 1)),
  });
  const ahead = isRtl ? -1 : 1;
  switch (key) {
    case 'ArrowDown':
      return to(at.row + 1, at.column);
    case 'ArrowUp':
      return to(at.row - 1, at.column);
    case 'ArrowRight':
      return to(at.row, at.column + ahead);
    case 'ArrowLeft':
      return to(at.row, at.column - ahead);
    case 'PageDown':
      return to(at.row + page, at.column);
    case 'PageUp':
      return to(Math.max(0, at.row - page), at.column);
    // A list of files is read by rows: Home and End go to its first and last row; with Ctrl along the row.
    case 'Home':
      return isMod ? to(at.row, 0) : to(0, at.column);
    case 'End':
      return isMod ? to(at.row, columns - 1) : to(rows - 1, at.column);
    default:
      return undefined;
  }
}
