/**
 * Writes the TypeScript types of the custom resources and the list of their fields from their schemas in crds/, and the chart's
 * copies of them:
 * `node hack/crd-types.ts`.
 * With `--check` it writes nothing and exits 1 when what is committed is not made of the schemas.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { fieldsOf } from '../pkg/admin/doctor/schema-fields.ts';

const OUTPUT = 'crds/types.generated.ts';
const FIELDS_OUTPUT = 'crds/fields.generated.ts';
const CHART_COPIES = 'charts/carrel/files/crds';

interface Schema {
  type?: string;
  description?: string;
  enum?: (string | number)[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  required?: string[];
  default?: unknown;
  'x-kubernetes-int-or-string'?: boolean;
}

interface Definition {
  spec: {
    names: { kind: string; plural: string };
    group: string;
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** The type of a value as the API server gives it: what has a default is always there. */
function typeOf(schema: Schema, indent: string): string {
  if (schema['x-kubernetes-int-or-string']) return 'number | string';
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'array') {
    const item = typeOf(schema.items ?? {}, indent);
    return item.includes('|') ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === 'object' && schema.properties) return objectType(schema, indent);
  if (schema.type === 'object') return `Record<string, ${typeOf(schema.additionalProperties ?? {}, indent)}>`;
  return schema.type ?? 'unknown';
}

function objectType(schema: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const given = schema.required?.includes(name) || property.default !== undefined;
    const comment = property.description ? `${inner}/** ${property.description} */\n` : '';
    return `${comment}${inner}${name}${given ? '' : '?'}: ${typeOf(property, inner)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function typesOf(definition: Definition): string {
  const { kind, plural } = definition.spec.names;
  const version = definition.spec.versions[0];
  if (!version) throw new Error(`${kind} has no version`);
  const root = version.schema.openAPIV3Schema;
  const { spec, status } = root.properties ?? {};
  return [
    `/** ${root.description} */`,
    `export interface ${kind} {`,
    `  apiVersion: '${definition.spec.group}/${version.name}';`,
    `  kind: '${kind}';`,
    '  metadata: V1ObjectMeta & { name: string; namespace: string; uid: string };',
    `  spec: ${kind}Spec;`,
    `  status?: ${kind}Status;`,
    '}',
    '',
    `export const ${plural.toUpperCase()} = { group: '${definition.spec.group}', version: '${version.name}', ` +
      `plural: '${plural}', kind: '${kind}', namespaced: true } as const;`,
    '',
    `export interface ${kind}Spec ${objectType(spec ?? {}, '')}`,
    '',
    `export interface ${kind}Status ${objectType(status ?? {}, '')}`,
    '',
  ].join('\n');
}

const files = readdirSync('crds')
  .filter((file) => file.endsWith('.yaml'))
  .toSorted();
const definitions = files.map((file) => parse(readFileSync(`crds/${file}`, 'utf8')) as Definition);
const types = [
  '// Made by `node hack/crd-types.ts` from the schemas beside it; do not edit.',
  "import type { V1ObjectMeta } from '@kubernetes/client-node';",
  '',
  ...definitions.map(typesOf),
].join('\n');

const fields = [
  '// Made by `node hack/crd-types.ts` from the schemas beside it; do not edit.',
  '/** All fields by kind, to tell whether the custom resources of a cluster are of this release. */',
  'export const FIELDS: Readonly<Record<string, readonly string[]>> = {',
  ...definitions.flatMap(({ spec: { names, versions } }) => [
    `  ${names.kind}: [`,
    ...fieldsOf(versions[0]?.schema.openAPIV3Schema ?? {}).map((field) => `    '${field}',`),
    '  ],',
  ]),
  '};',
  '',
].join('\n');

// A chart holds all its files: Helm reads none outside of it.
const outputs = new Map([
  [OUTPUT, types],
  [FIELDS_OUTPUT, fields],
  ...files.map((file): [string, string] => [join(CHART_COPIES, file), readFileSync(`crds/${file}`, 'utf8')]),
]);
const surplus = readdirSync(CHART_COPIES).filter((file) => !outputs.has(join(CHART_COPIES, file)));

for (const [file, text] of outputs) {
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) stale(file);
}
for (const file of surplus) {
  if (process.argv.includes('--check')) stale(join(CHART_COPIES, file));
  else rmSync(join(CHART_COPIES, file));
}

function stale(file: string): void {
  process.stderr.write(`${file} is stale: run \`node hack/crd-types.ts\`\n`);
  process.exitCode = 1;
}
