type Value = string | number | boolean | null;

/**
 * Prints rows as columns for people, or as lines of JSON for programs. Cuts texts for people that are too long for a terminal.
 */
export function printRows<Row extends Readonly<Record<string, Value>>>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
  json: boolean,
): void {
  if (json) {
    for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
    return;
  }
  if (rows.length === 0) return;
  const lines = [columns, ...rows.map((row) => columns.map((column) => textOf(row[column] ?? null)))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines)
    process.stdout.write(
      `${line
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
}

const LONGEST = 120;

/** Replaces control characters: a tenant's own text may contain anything that a terminal would obey. */
const textOf = (value: Value): string =>
  value === null
    ? '-'
    : String(value)
        .replaceAll(/[\p{C}\s]+/gu, ' ')
        .slice(0, LONGEST);
