/**
 * `make bench [LINES="launches deliveries …"] [BASE=<git ref>] [DOC=1]`: lines of docs/design/testing.md, Speed and size, each beside its control in
 * the same run. BASE measures another commit too, alternately with the present one; DOC writes docs/performance.md.
 * Numbers change with the machine and what else it does; ratios much less. Exit 1 where a target is missed.
 */
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { TestRun } from '../../hack/test-run.ts';
import { type Base, checkOutBase } from './base.ts';
import { BENCHES } from './benches.ts';
import { commitOf, rowsOf, type Section, table, writeDocument } from './report.ts';
import { runBench } from './turns.ts';

const root = dirname(dirname(import.meta.dirname));
const { values: options, positionals } = parseArgs({
  options: {
    base: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const wanted = positionals.length > 0 ? positionals : Object.keys(BENCHES);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`bench: there is no ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(1);
}

for (const left of TestRun.abandoned(root)) await left.end();
const run = TestRun.begin(root);
let base: Base | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(1));
try {
  if (options.base !== undefined) base = checkOutBase(root, options.base, join(run.environment['TMPDIR'] ?? tmpdir(), 'base'));
  const sections: Section[] = [];
  let failed = 0;
  const commit = commitOf(root);
  for (const name of wanted) {
    process.stderr.write(`${name} (load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores)\n`);
    const { environment } = run;
    const [present, before] = await runBench(
      name,
      [root, ...(base ? [base.root] : [])].map((checkout) => ({
        root: checkout,
        environment,
      })),
    );
    if (!present) {
      process.stderr.write(`bench: ${name} failed\n`);
      failed += 1;
      continue;
    }
    if (base && !before) process.stderr.write(`${name} has no base: it does not run on ${base.commit}\n`);
    sections.push({
      name,
      present: commit,
      base: base?.commit,
      rows: rowsOf(present, before),
    });
  }
  if (options.write) writeDocument(join(root, 'docs/performance.md'), sections);
  const rows = sections.flatMap((section) => section.rows);
  const missed = rows.filter(({ met }) => met === false).length;
  process.stdout.write(
    `${table(rows)}${rows.length} lines, ${missed} missed their target${failed > 0 ? `, ${failed} benches failed` : ''}\n`,
  );
  await end(missed + failed === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  await end(1);
}

async function end(code: number): Promise<never> {
  base?.remove();
  await run.end();
  process.exit(code);
}
