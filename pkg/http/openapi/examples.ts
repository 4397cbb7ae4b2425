type Json = Record<string, unknown>;

/**
 * Returns an example of a JSON Schema: its own, or one composed of its parts' examples.
 * Throws if a part has none: a new field needs `.meta({ example })` unless its type implies one (enum, boolean, UUID, time).
 */
export function exampleOf(schema: Json, resolve: (name: string) => Json, path = ''): unknown {
  if ('example' in schema) return schema.example;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if ('default' in schema) return schema.default;
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return exampleOf(resolve(name), resolve, path === '' ? name : path);
  }
  for (const alternatives of [schema.anyOf, schema.oneOf])
    if (Array.isArray(alternatives) && schema.type === undefined) return exampleOf(alternatives[0] as Json, resolve, path);
  if (Array.isArray(schema.allOf))
    return exampleOf(Object.assign({}, schema, ...(schema.allOf as Json[]), { allOf: undefined }) as Json, resolve, path);
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([name, part]) => [
        name,
        exampleOf(part, resolve, path === '' ? name : `${path}.${name}`),
      ]),
    );
  if (schema.type === 'array') return [exampleOf((schema.items ?? {}) as Json, resolve, `${path}[]`)];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'null') return null;
  if (Object.keys(schema).length === 0) return {};
  throw new Error(`${path || 'a schema'} has no example: give it one by .meta({ example })`);
}
