import type { z } from 'zod';
import {
  CSV,
  type Endpoint,
  EVENT_STREAM,
  isStream,
  isStreamBody,
  NDJSON,
  problemsOf,
  type ReplyShape,
} from '../../api/endpoint.ts';
import { ENTITY_TAGS_PATTERN } from '../../api/etag.ts';
import { CATALOGUE, type ProblemCode } from '../../api/error-catalogue.ts';
import { IDEMPOTENCY_KEY_PATTERN } from '../idempotency.ts';
import { jsonSchemaOf, takesNothing } from '../request/body.ts';
import { queryKind } from '../request/validate.ts';
import { failureHeaders, headerRefs, isShared, successHeaders } from './headers.ts';
import type { Json, SchemaBook } from './schema-book.ts';

/** Describes an operation. `readable`: a GET of its path and `/{id}` shows what it creates. */
export function operation(endpoint: Endpoint, schemas: SchemaBook, readable: boolean): Json {
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    tags: [endpoint.tag ?? 'other'],
    security: endpoint.caller === 'anyone' ? [] : [{ bearer: [] }],
    ...(typeof endpoint.caller === 'object' ? { description: `Requires the permission \`${endpoint.caller.permission}\`.` } : {}),
    parameters: [
      { $ref: '#/components/parameters/tenant' },
      { $ref: '#/components/parameters/requestId' },
      ...parameters(endpoint.params, 'path', schemas),
      ...parameters(endpoint.query, 'query', schemas),
      ...headerParameters(endpoint),
    ],
    ...(endpoint.body === undefined ? {} : { requestBody: requestBody(endpoint, schemas) }),
    responses: { ...successes(endpoint, schemas, readable), ...failures(endpoint) },
  };
}

/** Describes the HEAD of a GET: all of it except the bodies (RFC 9110 §9.3.2). */
export const headOperation = (get: Json): Json => ({
  ...get,
  operationId: `${get.operationId as string}Head`,
  summary: `${get.summary as string}: the headers alone`,
  responses: Object.fromEntries(
    Object.entries(get.responses as Record<string, Json>).map(([status, { description, headers }]) => [
      status,
      { description, headers },
    ]),
  ),
});

function parameters(schema: z.ZodObject | undefined, location: 'path' | 'query', schemas: SchemaBook): Json[] {
  if (!schema) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, part]) => {
    const described = schemas.of(part, 'input');
    const { description, example: _example, ...rest } = described;
    return {
      name,
      in: location,
      required: location === 'path' || !part.safeParse(undefined).success,
      ...(queryKind(part) === 'object' ? { style: 'deepObject', explode: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: rest,
      // a cursor comes from a page, so there is no valid example
      ...(name === 'cursor' ? {} : { example: schemas.example(described) }),
    };
  });
}

/** The characters that a header may hold (RFC 9110 §5.5). */
const FIELD_VALUE = String.raw`^[\t -~\u0080-\u00ff]*$`;

function headerParameters(endpoint: Endpoint): Json[] {
  const errors = problemsOf(endpoint);
  const header = (name: string, description: string, pattern: string | undefined, example: string, maxLength?: number): Json => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }), ...(maxLength === undefined ? {} : { maxLength }) },
    example,
  });
  const statuses = Object.keys(endpoint.replies);
  return [
    ...(endpoint.takes ?? []).map(({ name, description, pattern, maxLength, example, required = false }) => ({
      ...header(name, description, pattern, example, maxLength),
      required,
    })),
    ...(errors.includes('precondition_failed')
      ? [
          header(
            'If-Match',
            'Proceed only if the current entity tag is one of these (RFC 9110 §13.1.1).',
            ENTITY_TAGS_PATTERN,
            '*',
          ),
        ]
      : []),
    ...(statuses.includes('304')
      ? [
          header(
            'If-None-Match',
            '304 when the entity tag is one of these (RFC 9110 §13.1.2).',
            ENTITY_TAGS_PATTERN,
            '"3q2-7wAAAAAAAAAAAAAAAAAAAAA"',
          ),
        ]
      : []),
    ...(errors.includes('range_not_satisfiable')
      ? [
          header('Range', 'One range of bytes; an invalid one is ignored (RFC 9110 §14.2).', undefined, 'bytes=0-99'),
          header(
            'If-Range',
            'Apply Range only if this is the current entity tag, else send the whole file (RFC 9110 §13.1.5).',
            undefined,
            '"3q2-7wAAAAAAAAAAAAAAAAAAAAA"',
          ),
        ]
      : []),
    ...(isShared(endpoint) && endpoint.method === 'get'
      ? [header('X-Share-Password', 'The password of the link, in UTF-8.', FIELD_VALUE, 'correct horse battery')]
      : []),
    ...(endpoint.idempotent
      ? [
          header(
            'Idempotency-Key',
            'The reply to the first request is stored for 24 h and replayed.',
            IDEMPOTENCY_KEY_PATTERN,
            `${endpoint.operationId}-2026-01-31`,
          ),
        ]
      : []),
  ];
}

function requestBody(endpoint: Endpoint, schemas: SchemaBook): Json {
  const json = jsonSchemaOf(endpoint);
  const stream = isStreamBody(endpoint.body) ? endpoint.body : undefined;
  const content = (schema: Json): Json => ({ schema, example: schemas.example(schema) });
  return {
    required: !takesNothing(endpoint),
    content: {
      ...Object.fromEntries(stream?.stream.map((type) => [type, content(schemas.of(stream.schema, 'input', true))]) ?? []),
      ...(json ? { 'application/json': content(schemas.of(json, 'input', true)) } : {}),
    },
  };
}

function successes(endpoint: Endpoint, schemas: SchemaBook, readable: boolean): Json {
  return Object.fromEntries(
    Object.entries(endpoint.replies).map(([status, shape]) => [
      status,
      {
        description: endpoint.summary,
        headers: headerRefs(successHeaders(endpoint, Number(status), readable)),
        ...(shape === null
          ? {}
          : {
              content: {
                ...contentOf(shape, schemas),
                ...(endpoint.followed && status === '200' ? { [EVENT_STREAM]: { schema: EVENTS } } : {}),
                ...(status === '200'
                  ? Object.fromEntries((endpoint.exported ?? []).map((type) => [type, { schema: EXPORTS[type] }]))
                  : {}),
              },
            }),
      },
    ]),
  );
}

const contentOf = (shape: NonNullable<ReplyShape>, schemas: SchemaBook): Json =>
  isStream(shape) ? { [shape.stream]: { schema: BYTES } } : jsonContent(schemas.of(shape, 'output'), schemas);

const EVENTS = {
  type: 'string',
  description: 'Events without a name, each with this JSON as its data. The stream ends with the last one.',
};
const LINES = {
  type: 'string',
  description: 'All items of the list, each as one line of JSON; `limit` and `cursor` are ignored.',
};
const TABLE = {
  type: 'string',
  description:
    'All items of the list, each as one line of a table with a first line of names (RFC 4180, UTF-8); `limit` and `cursor` ' +
    'are ignored. Text that a spreadsheet would read as a formula has a leading apostrophe.',
};
const EXPORTS: Readonly<Record<string, Json>> = { [NDJSON]: LINES, [CSV]: TABLE };
const BYTES = { type: 'string', format: 'binary' };
const jsonContent = (schema: Json, schemas: SchemaBook): Json => ({
  'application/json': { schema, example: schemas.example(schema) },
});

/** One response per status, with the codes that it may have. */
function failures(endpoint: Endpoint): Json {
  const byStatus = Map.groupBy(problemsOf(endpoint), (code) => CATALOGUE[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code].meaning}`).join('\n\n'),
        headers: headerRefs(failureHeaders(status, endpoint)),
        content: { 'application/json': { schema: errorSchema(status, codes), example: errorExample(status, codes) } },
      },
    ]),
  );
}

/** The shape of an error's `details`; `document.ts` puts it under components. */
export const ERROR_DETAILS: Json = {
  type: 'array',
  description: 'each field that is wrong, by its dotted path',
  items: {
    type: 'object',
    required: ['field', 'message'],
    additionalProperties: false,
    properties: { field: { type: 'string' }, message: { type: 'string' } },
  },
  example: [{ field: 'name', message: 'is required' }],
};

const errorSchema = (status: number, codes: readonly ProblemCode[]): Json => ({
  type: 'object',
  required: ['error', 'message', 'request_id', ...(status === 429 ? ['retry_after'] : [])],
  additionalProperties: false,
  properties: {
    error: { type: 'string', enum: codes },
    message: { type: 'string' },
    request_id: { type: 'string' },
    details: { $ref: '#/components/schemas/ErrorDetails' },
    ...(status === 429 ? { retry_after: { type: 'integer', description: 'seconds' } } : {}),
  },
});

function errorExample(status: number, [code = 'internal']: readonly ProblemCode[]): Json {
  const details = code === 'validation_failed' ? [{ field: 'name', message: 'is required' }] : undefined;
  return {
    error: code,
    message: details ? 'name: is required' : CATALOGUE[code].meaning,
    request_id: '2f1c8a52-0f0e-4f59-9d3c-1f2b8a9c7d10',
    ...(details ? { details } : {}),
    ...(status === 429 ? { retry_after: 2 } : {}),
  };
}
