/**
 * Writes the tables of the documentation that come from the code: the settings of each program (docs/operate.md) and the API's error
 * codes (docs/use-the-api.md). `node hack/settings-table.ts`; with `--check` it only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { operatorConfigSchema } from '../cmd/operator/config.ts';
import { serverConfigSchema } from '../cmd/server/config.ts';
import { workerConfigSchema } from '../cmd/worker/config.ts';
import { CATALOGUE } from '../pkg/api/error-catalogue.ts';

const isOptional = (setting: z.ZodType): boolean => setting.safeParse(undefined).success;

function table(shape: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(shape).map(
    ([name, setting]) => `| \`${name}\` | ${isOptional(setting) ? '' : 'yes'} | ${(setting.description ?? '').replaceAll('|', '\\|')} |`,
  );
  return ['| variable | required | set it to |', '|---|---|---|', ...rows].join('\n');
}

const errorTable = [
  '| code | status | what it means |',
  '|---|---|---|',
  ...Object.entries(CATALOGUE).map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`),
].join('\n');

/** By file and marker: what stands between `<!-- marker -->` and `<!-- /marker's first word -->`. */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/operate.md': {
    'settings:operator': table(operatorConfigSchema.shape),
    'settings:worker': table(workerConfigSchema.shape),
    'settings:server': table(serverConfigSchema.shape),
  },
  'docs/use-the-api.md': { errors: errorTable },
};

let isStale = false;
for (const [file, byMarker] of Object.entries(tables)) {
  const before = readFileSync(file, 'utf8');
  const after = before.replaceAll(/(<!-- ([\w:]+) -->\n)[\s\S]*?(\n<!-- \/\w+ -->)/g, (all, begin: string, marker: string, end: string) =>
    byMarker[marker] === undefined ? all : `${begin}\n${byMarker[marker]}\n${end}`,
  );
  if (before === after) continue;
  isStale = true;
  if (process.argv.includes('--check')) process.stderr.write(`${file} is stale: run \`node hack/settings-table.ts\`\n`);
  else writeFileSync(file, after);
}
if (isStale && process.argv.includes('--check')) process.exit(1);
