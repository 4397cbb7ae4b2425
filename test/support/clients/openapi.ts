import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type Schema = Record<string, unknown>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Response {
  readonly headers: Record<string, unknown>;
  readonly content?: Record<string, { schema: Schema; example?: unknown }>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: string[];
  readonly security: unknown[];
  readonly parameters: (Parameter | { $ref: string })[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { schema: Schema; example?: unknown }> };
  readonly responses: Record<string, Response>;
}

export interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: { readonly url: string }[];
  readonly tags: { readonly name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, { post: Operation }>;
  readonly components: {
    readonly schemas: Record<string, Schema>;
    readonly headers: Record<string, Schema>;
    readonly parameters: Record<string, Parameter>;
  };
}

/** An operation with where it stands. */
export interface Described extends Operation {
  /** `get /files/{id}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

const described = (document: Document): Described[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, name: `${method} ${path}`, method, path })),
  );

/** All but HEAD, which is GET without the body. */
export const operationsOf = (document: Document): Described[] => described(document).filter(({ method }) => method !== 'head');
export const headOperationsOf = (document: Document): Described[] =>
  described(document).filter(({ method }) => method === 'head');

/** The parameters of an operation, those of components in their place. */
export const parametersOf = (document: Document, operation: Operation): Parameter[] =>
  operation.parameters.map((parameter) =>
    '$ref' in parameter ? (document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''] as Parameter) : parameter,
  );

/** Checks values against schemas of the document; '' when it holds, else what is wrong. */
export function schemaChecker(document: Document): (schema: Schema, value: unknown) => string {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat('binary', true);
  ajv.addSchema({ $id: 'document', components: document.components });
  const known = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const validate = known.get(text) ?? ajv.compile(JSON.parse(text) as Schema);
    known.set(text, validate);
    return validate(value) ? '' : ajv.errorsText(validate.errors);
  };
}
