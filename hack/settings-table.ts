/**
 * `node hack/settings-table.ts` writes the tables of the documentation that come from the code: the settings of each program
 * (docs/operate/settings.md), the API's error codes (docs/use-the-api.md) and the values of the chart with their comments
 * (docs/chart-values.md). With `--check` it only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { isMap, parseDocument, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { z } from 'zod';
import { helpersConfigSchema } from '../cmd/helpers/config.ts';
import { operatorConfigSchema } from '../cmd/operator/config.ts';
import { serverConfigSchema } from '../cmd/server/config.ts';
import { workerConfigSchema } from '../cmd/worker/config.ts';
import { CATALOGUE } from '../pkg/api/error-catalogue.ts';

const isOptional = (setting: z.ZodType): boolean => setting.safeParse(undefined).success;

function table(shape: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(shape).map(
    ([name, setting]) =>
      `| \`${name}\` | ${isOptional(setting) ? '' : 'yes'} | ${(setting.description ?? '').replaceAll('|', '\\|')} |`,
  );
  return ['| variable | required | set it to |', '|---|---|---|', ...rows].join('\n');
}

const errorTable = [
  '| code | status | what it means |',
  '|---|---|---|',
  ...Object.entries(CATALOGUE).map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`),
].join('\n');

/** A row for every value of the chart: a value's meaning is the comment above it. Throws when one has none. */
function valueRows(map: YAMLMap, path: string): string[] {
  return (map.items as Pair<Scalar<string>, unknown>[]).flatMap(({ key, value }, index) => {
    const name = path === '' ? key.value : `${path}.${key.value}`;
    // The comment above the first entry of a map is the map's.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    const isGroup = isMap(value) && value.items.length > 0 && value.flow !== true && !name.endsWith('.resources');
    if (isGroup) return valueRows(value as YAMLMap, name);
    if (!comment) throw new Error(`charts/carrel/values.yaml: ${name} has no comment`);
    // The head of the file is the first comment's first paragraph.
    const meaning =
      comment
        .split(/\n\s*\n/)
        .at(-1)
        ?.replaceAll(/\n ?/g, ' ')
        .trim() ?? '';
    const preset = JSON.stringify(isMap(value) ? (value as YAMLMap).toJSON() : (value as Scalar).toJSON());
    return [`| \`${name}\` | \`${preset.replaceAll('|', '\\|')}\` | ${meaning.replaceAll('|', '\\|')} |`];
  });
}

function valuesTable(): string {
  const document = parseDocument(readFileSync('charts/carrel/values.yaml', 'utf8'));
  return ['| value | default | what it is |', '|---|---|---|', ...valueRows(document.contents as YAMLMap, '')].join('\n');
}

/** The text between `<!-- marker -->` and `<!-- /marker's first word -->`, by file and marker. */
const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/operate/settings.md': {
    'settings:operator': table(operatorConfigSchema.shape),
    'settings:worker': table(workerConfigSchema.shape),
    'settings:server': table(serverConfigSchema.shape),
  },
  'docs/helper-services.md': { 'settings:helpers': table(helpersConfigSchema.shape) },
  'docs/use-the-api.md': { errors: errorTable },
  'docs/chart-values.md': { values: valuesTable() },
};

let isStale = false;
for (const [file, byMarker] of Object.entries(tables)) {
  const before = readFileSync(file, 'utf8');
  const after = before.replaceAll(
    /(<!-- ([\w:]+) -->\n)[\s\S]*?(\n<!-- \/\w+ -->)/g,
    (all, begin: string, marker: string, end: string) =>
      byMarker[marker] === undefined ? all : `${begin}\n${byMarker[marker]}\n${end}`,
  );
  if (before === after) continue;
  isStale = true;
  if (process.argv.includes('--check')) process.stderr.write(`${file} is stale: run \`node hack/settings-table.ts\`\n`);
  else writeFileSync(file, after);
}
if (isStale && process.argv.includes('--check')) process.exit(1);
