import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import type { Line } from './measure.ts';

/** A line of the present beside that of the base, where there is one. */
export interface Row extends Line {
  readonly base?: Line | undefined;
}

/** The rows of one bench, and their commits. */
export interface Section {
  readonly name: string;
  /** The machine's load in the minute before: programs that ran or waited for a core. */
  readonly load: number;
  readonly present: string;
  readonly base?: string | undefined;
  readonly rows: readonly Row[];
}

const HEAD = `# Performance

\`make bench DOC=1\` wrote this page: what \`make bench\` measured last of each section, beside its control in the
same run. \`BASE=<git ref>\` measures another commit too, alternately with the present one.
Numbers change with the machine; ratios change much less.

- ratio: present by control; base ratio: base by the same control
- CPU: time of the server or worker for one operation
`;

/** The present's lines with the base's of the same name. */
export const rowsOf = (present: readonly Line[], base: readonly Line[] = []): Row[] =>
  present.map((line) => ({
    ...line,
    base: base.find(({ what }) => what === line.what),
  }));

/** A Markdown table that a terminal shows well too. `withBase`: a line that the base lacks says so. */
export function table(rows: readonly Row[], withBase: boolean): string {
  const ratio = (line: Line | undefined): string => line?.ratio?.toFixed(2) ?? '';
  const columns: [string, (row: Row) => string][] = [
    ['what', ({ what }) => what],
    ['base', ({ base }) => base?.ours ?? (withBase ? 'no base' : '')],
    ['present', ({ ours }) => ours],
    ['control', ({ control }) => control],
    ['base ratio', ({ base }) => ratio(base)],
    ['ratio', (row) => ratio(row)],
    ['target', ({ target }) => target],
    ['met', ({ met }) => (met === undefined ? '' : met ? 'yes' : 'no')],
    ['base CPU', ({ base }) => base?.cpu ?? ''],
    ['CPU', ({ cpu }) => cpu ?? ''],
  ];
  const used = columns.filter(([name, cell]) => name === 'what' || rows.some((row) => cell(row) !== ''));
  const cells = [used.map(([name]) => name), used.map(() => ''), ...rows.map((row) => used.map(([, cell]) => cell(row)))];
  const widths = used.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map(
      (row, at) =>
        `| ${widths.map((width, column) => (at === 1 ? '-'.repeat(width) : (row[column] ?? '').padEnd(width))).join(' | ')} |\n`,
    )
    .join('');
}

/** Puts the sections into the document in place of those of the same name; the others stay. */
export function writeDocument(file: string, sections: readonly Section[]): void {
  const texts = new Map<string, string>();
  for (const text of textOf(file)
    .split(/^(?=## )/m)
    .slice(1))
    texts.set(text.slice(3, text.indexOf('\n')), `${text.trim()}\n`);
  for (const section of sections) texts.set(section.name, sectionText(section));
  const ordered = [...texts].toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(file, [HEAD, ...ordered.map(([, text]) => text)].join('\n'));
}

function sectionText({ name, load, present, base, rows }: Section): string {
  const commits = base === undefined ? `Commit ${present}` : `Commit ${present}, base ${base}`;
  return (
    `## ${name}\n\n${commits}; ${machine()}; ${new Date().toISOString().slice(0, 10)}, ` +
    `load before ${load.toFixed(1)}.\n\n${table(rows, base !== undefined)}`
  );
}

const machine = (): string =>
  `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown kind'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
  `Node ${process.versions.node}`;

/** Abbreviated; says when the files are not the commit's. */
export function commitOf(root: string): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', 'cmd', 'pkg', 'test', 'package-lock.json') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
