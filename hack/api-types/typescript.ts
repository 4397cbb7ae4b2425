/** TypeScript types of an OpenAPI 3.1 document, for the client of the browser's pages (pkg/web/api/client.ts). Pure. */

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly summary: string;
  readonly parameters: readonly (Json & {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
    readonly schema?: Json;
  })[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema?: Json }>>;

const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns a module with a type for each schema of the document, and one `Operations` with an entry for each operation. */
export function typesOfDocument(document: Json): string {
  const { paths, components } = document as unknown as {
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    components: { schemas: Readonly<Record<string, Json>> };
  };
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${commentOf(schema, '')}export type ${name} = ${typeOf(schema, '')};`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => `  /** ${operation.summary} */\n  '${method.toUpperCase()} ${path}': ${entryOf(operation)};`),
  );
  return (
    `/** Made by hack/api-types from the OpenAPI document. */\n\n${schemas.join('\n\n')}\n\n` +
    `export interface Operations {\n${operations.join('\n')}\n}\n`
  );
}

/** The parameters of an operation, its JSON body, and the JSON of its successes: `undefined` for a reply without a body. */
function entryOf({ parameters, requestBody, responses }: Operation): string {
  const group = (location: string): string => {
    const properties = parameters.filter((parameter) => parameter.in === location);
    const lines = properties.map(({ name, required, schema = {} }) =>
      required ? `${name}: ${typeOf(schema, '      ')}` : `${name}?: ${typeOf(schema, '      ')} | undefined`,
    );
    return lines.length === 0 ? '{}' : `{ ${lines.join('; ')} }`;
  };
  const body = requestBody?.content['application/json']?.schema;
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const replies = successes.map(([, { content }]) => {
    if (content === undefined) return 'undefined';
    const { schema } = content['application/json'] ?? {};
    return schema ? typeOf(schema, '    ') : 'unknown';
  });
  const fields = [
    `path: ${group('path')}`,
    `query: ${group('query')}`,
    `body${requestBody?.required === true && body ? '' : '?'}: ${body ? typeOf(body, '    ') : 'undefined'}`,
    `reply: ${[...new Set(replies)].join(' | ')}`,
  ];
  return `{\n${fields.map((field) => `    ${field};\n`).join('')}  }`;
}

function typeOf(schema: Json, indent: string): string {
  const {
    $ref,
    const: constant,
    enum: values,
    anyOf,
    oneOf,
    allOf,
    type,
  } = schema as {
    $ref?: string;
    const?: unknown;
    enum?: readonly unknown[];
    anyOf?: readonly Json[];
    oneOf?: readonly Json[];
    allOf?: readonly Json[];
    type?: string | readonly string[];
  };
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? 'unknown';
  if (constant !== undefined) return JSON.stringify(constant);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  // Beside `properties`, alternatives only say which of them are required.
  if (schema.properties) return objectOf(schema, indent);
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return [...new Set(alternatives.map((one) => typeOf(one, indent)))].join(' | ');
  if (allOf) return allOf.map((one) => `(${typeOf(one, indent)})`).join(' & ');
  if (Array.isArray(type)) return type.map((one: string) => typeOf({ ...schema, type: one }, indent)).join(' | ');
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') return `readonly (${typeOf((schema.items as Json | undefined) ?? {}, indent)})[]`;
  if (type === 'object') return objectOf(schema, indent);
  return type === 'string' || type === 'boolean' || type === 'null' ? type : 'unknown';
}

function objectOf(schema: Json, indent: string): string {
  const {
    properties,
    required = [],
    additionalProperties,
  } = schema as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
    additionalProperties?: Json | boolean;
  };
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, property]) =>
      `${commentOf(property, inner)}${inner}readonly ${/^\w+$/.test(name) ? name : JSON.stringify(name)}` +
      `${required.includes(name) ? '' : '?'}: ${typeOf(property, inner)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

const commentOf = ({ description }: Json, indent: string): string =>
  typeof description === 'string' ? `${indent}/** ${description.replaceAll('*/', '*')} */\n` : '';
