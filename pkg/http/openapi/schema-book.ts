import { z } from 'zod';
import { exampleOf } from './examples.ts';

export type Json = Record<string, unknown>;

/**
 * JSON Schemas of zod schemas. Those with an id (`.meta({ id })`) appear once, under components, with an example.
 * `.meta({ 'x-openapi': … })` describes the schema to clients if its type here differs (a number in a query is text that is
 * parsed).
 */
export class SchemaBook {
  readonly all: Record<string, Json> = {};

  /** `closed`: further top-level fields are refused, as by `strict`. */
  of(schema: z.ZodType, io: 'input' | 'output', closed = false): Json {
    const {
      $schema: _dialect,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json & { $defs?: Json };
    for (const [name, part] of Object.entries($defs)) this.all[name] = portable(part) as Json;
    const described = portable(root) as Json;
    const own = schema.meta()?.id;
    const target = own === undefined ? described : (this.all[own] ?? {});
    if (closed && target.type === 'object') target.additionalProperties ??= false;
    return described;
  }

  /** Returns an example of a schema that `of` returned. Throws if a part of it has none. */
  example(schema: Json): unknown {
    return exampleOf(schema, (name) => this.all[name] ?? {});
  }

  /** Returns each schema with its example, once all are known. */
  components(): Json {
    return Object.fromEntries(
      Object.entries(this.all).map(([name, schema]) => [name, { ...schema, example: this.example(schema) }]),
    );
  }
}

/**
 * Rewrites references to components, and patterns to mean the same in every language: `\d` is ten digits here and hundreds
 * elsewhere.
 */
function portable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(portable);
  if (node === null || typeof node !== 'object') return node;
  const { 'x-openapi': override, ...own } = node as Json;
  if (override !== undefined) {
    const { type: _type, pattern: _pattern, enum: _enum, ...rest } = own;
    return { ...rest, ...(override as Json) };
  }
  return Object.fromEntries(
    Object.entries(own).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string') return [key, value.replace('#/$defs/', '#/components/schemas/')];
      if (key === 'pattern' && typeof value === 'string')
        return [key, value.replaceAll(String.raw`\d`, '[0-9]').replaceAll(String.raw`\/`, '/')];
      return [key, key === 'example' ? value : portable(value)];
    }),
  );
}
