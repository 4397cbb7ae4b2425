type Value = string | number | boolean | null;

/**
 * Prints rows as columns for people, or as lines of JSON for programs. What is longer than a line of a terminal may be is cut for
 * people.
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

/** A tenant's own text may hold anything that a terminal would obey. */
const textOf = (value: Value): string =>
  value === null
    ? '-'
    : String(value)
        .replaceAll(/[\p{C}\s]+/gu, ' ')
        .slice(0, LONGEST);
