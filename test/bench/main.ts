/**
 * `make bench [LINES="launches deliveries metadata …"]`: lines of docs/design/testing.md, Speed and size, each beside its control in the same run.
 * Numbers change with the machine and what else it does; ratios much less. Exit 1 where a target is missed.
 */
import { cpus, loadavg } from 'node:os';
import { startPlatform } from '../integration/worker/platform.ts';
import { fairness } from './fairness.ts';
import { deliveries } from './deliveries.ts';
import { launches } from './launches.ts';
import { lists } from './lists.ts';
import type { Line } from './measure.ts';
import { metadata } from './metadata.ts';
import { recovery } from './recovery.ts';
import { transfers } from './transfers.ts';

const BENCHES: Readonly<Record<string, () => Promise<Line[]>>> = {
  launches: () => onPlatform(({ stores }) => launches(stores)),
  deliveries: () => onPlatform(deliveries),
  fairness,
  lists: () => onPlatform(({ stores }) => lists(stores)),
  metadata: () => onPlatform(({ stores }) => metadata(stores)),
  recovery,
  transfers: () => onPlatform(({ stores }) => transfers(stores)),
};

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`bench: there is no ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(1);
}

const lines: Line[] = [];
for (const name of wanted) {
  process.stderr.write(`${name} (load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores)\n`);
  lines.push(...((await BENCHES[name]?.()) ?? []));
}
print(lines);
const missed = lines.filter(({ met }) => met === false).length;
process.stdout.write(`${lines.length} lines, ${missed} missed their target\n`);
process.exit(missed === 0 ? 0 : 1);

async function onPlatform(bench: (platform: Awaited<ReturnType<typeof startPlatform>>) => Promise<Line[]>): Promise<Line[]> {
  const platform = await startPlatform({ durable: true });
  try {
    return await bench(platform);
  } finally {
    await platform.stop();
  }
}

function print(all: readonly Line[]): void {
  const rows = [
    ['what', 'ours', 'control', 'ratio', 'target', 'met'],
    ...all.map(({ what, ours, control, ratio, target, met }) => [
      what,
      ours,
      control,
      ratio?.toFixed(2) ?? '',
      target,
      met === undefined ? '' : met ? 'yes' : 'NO',
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
}
