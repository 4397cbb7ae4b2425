/** Writes the tables of settings in docs/operate.md from the programs' schemas: `node hack/settings-table.ts`; with `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { operatorConfigSchema } from '../cmd/operator/config.ts';
import { serverConfigSchema } from '../cmd/server/config.ts';
import { workerConfigSchema } from '../cmd/worker/config.ts';

const FILE = 'docs/operate.md';

const isOptional = (setting: z.ZodType): boolean => setting.safeParse(undefined).success;

function table(shape: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(shape).map(
    ([name, setting]) => `| \`${name}\` | ${isOptional(setting) ? '' : 'yes'} | ${(setting.description ?? '').replaceAll('|', '\\|')} |`,
  );
  return ['| variable | required | set it to |', '|---|---|---|', ...rows].join('\n');
}

const tables: Readonly<Record<string, string>> = {
  operator: table(operatorConfigSchema.shape),
  worker: table(workerConfigSchema.shape),
  server: table(serverConfigSchema.shape),
};

const before = readFileSync(FILE, 'utf8');
const after = before.replaceAll(
  /(<!-- settings:(\w+) -->\n)[\s\S]*?(\n<!-- \/settings -->)/g,
  (_all, begin: string, program: string, end: string) => `${begin}\n${tables[program] ?? ''}\n${end}`,
);
if (!process.argv.includes('--check')) writeFileSync(FILE, after);
else if (before !== after) {
  process.stderr.write(`${FILE} is stale: run \`node hack/settings-table.ts\`\n`);
  process.exit(1);
}
