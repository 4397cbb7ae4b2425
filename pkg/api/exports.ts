import { Readable } from 'node:stream';

/** Streams all items of a list, each as one line of JSON. */
export const ndjson = <T>(pieces: AsyncIterable<readonly T[]>, signal: AbortSignal): Readable =>
  stream(pieces, (item) => `${JSON.stringify(item)}\n`, signal);

/** Streams all items of a list as a table (RFC 4180) whose first line has the names. */
export const csv = <T>(
  pieces: AsyncIterable<readonly T[]>,
  fields: Readonly<Record<string, (item: T) => string | null>>,
  signal: AbortSignal,
): Readable => {
  const row = (cells: readonly (string | null)[]): string => `${cells.map(cell).join(',')}\r\n`;
  const values = Object.values(fields);
  return stream(pieces, (item) => row(values.map((value) => value(item))), signal, row(Object.keys(fields)));
};

/** The beginnings of text that spreadsheets read as a formula, in full width too (OWASP, CSV Injection). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

function cell(value: string | null): string {
  const text = value ?? '';
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function stream<T>(pieces: AsyncIterable<readonly T[]>, line: (item: T) => string, signal: AbortSignal, head = ''): Readable {
  async function* lines(): AsyncGenerator<string> {
    if (head !== '') yield head;
    for await (const items of pieces) yield items.map(line).join('');
  }
  return Readable.from(lines(), { objectMode: false, signal });
}
