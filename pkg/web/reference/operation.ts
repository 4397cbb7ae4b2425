/** The parts of an OpenAPI document that the form of an operation shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
  };
}

export interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A value that a person may enter for a request. */
export interface Input {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'form';
  readonly isRequired: boolean;
  readonly description: string | undefined;
  readonly example: string | undefined;
  /** `list`: one value a line; `object`: one `key=value` a line; `file`: a file of the person's. */
  readonly kind: 'text' | 'list' | 'object' | 'file';
}

/** The body of a request, besides the fields of a form. */
export type Body =
  | { readonly kind: 'json'; readonly example: string; readonly isRequired: boolean }
  | { readonly kind: 'form' }
  | { readonly kind: 'file'; readonly mediaType: string };

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly inputs: readonly Input[];
  readonly body: Body | undefined;
}

/** Returns what a person may enter for an operation; undefined if the document has no such operation. */
export function operationOf(document: Document, operationId: string): Operation | undefined {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, described] of Object.entries(operations))
      if (described.operationId === operationId) return readOperation(document, method.toUpperCase(), path, described);
  return undefined;
}

function readOperation(document: Document, method: string, path: string, described: DescribedOperation): Operation {
  // Those that every operation has (X-Tenant-ID, X-Request-Id) are references. The page needs neither.
  const inputs = (described.parameters ?? []).flatMap((parameter) => ('name' in parameter ? [inputOf(parameter)] : []));
  const content = described.requestBody?.content ?? {};
  const json = content['application/json'];
  const form = content['multipart/form-data'];
  if (form) return { method, path, inputs: [...inputs, ...fieldsOf(document, form.schema)], body: { kind: 'form' } };
  const isRequired = described.requestBody?.required === true;
  const example = JSON.stringify(json?.example ?? {}, null, 2);
  if (json) return { method, path, inputs, body: { kind: 'json', example, isRequired } };
  const [mediaType] = Object.keys(content);
  return { method, path, inputs, body: mediaType === undefined ? undefined : { kind: 'file', mediaType } };
}

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);

const kindOf = ({ type, format }: Schema): Input['kind'] => {
  if (format === 'binary') return 'file';
  if (type === 'array') return 'list';
  return type === 'object' ? 'object' : 'text';
};

const inputOf = ({ name, in: location, required = false, description, schema = {}, example }: Parameter): Input => ({
  name,
  in: location,
  isRequired: required,
  description,
  example: textOf(example),
  kind: kindOf(schema),
});

function fieldsOf(document: Document, schema: Schema = {}): Input[] {
  const resolved = schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  return Object.entries(resolved.properties ?? {}).map(([name, field]) => ({
    name,
    in: 'form',
    isRequired: resolved.required?.includes(name) ?? false,
    description: undefined,
    example: undefined,
    kind: kindOf(field) === 'file' ? 'file' : 'text',
  }));
}
