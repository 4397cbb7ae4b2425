/**
 * `make bench [LINES="launches deliveries …"] [BASE=<git ref>] [DOC=1] [ROUNDS=1]` measures lines of docs/design/testing.md,
 * Speed and size, each beside its control in the same run. BASE measures another commit too, alternately with the present one.
 * DOC writes docs/performance.md. ROUNDS limits how often each is measured, for a quick look. Numbers change with the machine and
 * its load; ratios change much less. Exits with 1 when a target is missed.
 */
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { TestRun } from '../../hack/test-run.ts';
import { type Base, checkOutBase } from './base.ts';
import { BENCHES, WITHOUT_BASE } from './benches.ts';
import { commitOf, rowsOf, type Section, table, writeDocument } from './report.ts';
import { type Checkout, runBench } from './turns.ts';

const root = dirname(dirname(import.meta.dirname));
const { values: options, positionals } = parseArgs({
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '100' },
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
const started = performance.now();
let base: Base | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(1));
try {
  if (options.base !== undefined) base = checkOutBase(root, options.base, join(run.environment['TMPDIR'] ?? tmpdir(), 'base'));
  const sections: Section[] = [];
  const failed: string[] = [];
  const commit = commitOf(root);
  for (const [at, name] of wanted.entries()) {
    const load = loadavg()[0] ?? 0;
    progress(`${name}, ${at + 1} of ${wanted.length} (load ${load.toFixed(1)} on ${cpus().length} cores)`);
    const { environment } = run;
    const checkouts: Checkout[] = [{ root, environment, isBase: false }];
    if (base && !WITHOUT_BASE.has(name)) checkouts.push({ root: base.root, environment, isBase: true });
    const [present, before] = await runBench(name, checkouts, Number(options.rounds));
    if (!present || 'failure' in present) {
      progress(`${name} failed`);
      failed.push(name);
      continue;
    }
    if (before && 'failure' in before) progress(`${name} has no base: on ${base?.commit} it ends with: ${before.failure}`);
    const rows = rowsOf(present.lines, before && 'lines' in before ? before.lines : []);
    const section = { name, load, present: commit, base: base?.commit, rows };
    sections.push(section);
    if (options.write) writeDocument(join(root, 'docs/performance.md'), [section]);
    process.stderr.write(table(rows, base !== undefined));
  }
  const rows = sections.flatMap((section) => section.rows);
  const missed = rows.filter(({ met }) => met === false).length;
  const took = `${((performance.now() - started) / 60_000).toFixed(1)} min`;
  process.stdout.write(`${table(rows, base !== undefined)}\n`);
  process.stdout.write(
    `bench: ${rows.length} lines in ${took}, ${missed} missed their target, ${failed.length} of ${wanted.length} ` +
      `benches failed${failed.map((name) => ` (${name})`).join('')}\n`,
  );
  await end(missed + failed.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  await end(1);
}

function progress(what: string): void {
  process.stderr.write(`${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s  ${what}\n`);
}

async function end(code: number): Promise<never> {
  base?.remove();
  await run.end();
  process.exit(code);
}
