import { z } from 'zod';
import { type Endpoint, isStreamBody, problemsOf, type ReplyShape } from '../../api/endpoint.ts';
import { CATALOGUE, type ProblemCode } from '../../api/problem.ts';
import { jsonSchemaOf, takesNothing } from '../request/body.ts';
import { strict } from '../request/validate.ts';

/** `info.version` (specification: Versioning). */
export const API_VERSION = '1.0';

type Json = Record<string, unknown>;

const HEADERS: Readonly<Record<string, { description: string; schema: Json }>> = {
  'X-Request-Id': { description: 'Finds the request in the log.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'The tightest limit.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left of it.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Unix time in seconds at which the whole limit is free again.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  ETag: { description: 'Strong entity tag, for If-Match.', schema: { type: 'string' } },
  Link: { description: 'The next page, rel="next".', schema: { type: 'string' } },
  Allow: { description: 'The methods that are taken.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'RFC 6750.', schema: { type: 'string' } },
};

/** The OpenAPI 3.1 document of these endpoints: every status and shape that can come out of each. */
export function openApiDocument(endpoints: readonly Endpoint[], apiUrl: string): Json {
  const schemas = new SchemaBook();
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Carrel',
      version: API_VERSION,
      description: 'Files, folders and people of one tenant. Errors have one shape; `error` is a code of the catalogue.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: apiUrl }],
    paths,
    components: {
      schemas: schemas.all,
      headers: HEADERS,
      parameters: {
        tenant: {
          name: 'X-Tenant-ID',
          in: 'header',
          description: "The tenant's slug or numeric id; routes on the shared API host.",
          schema: { type: 'string' },
        },
        requestId: {
          name: 'X-Request-Id',
          in: 'header',
          description: 'Taken when it is 8 to 128 of A-Z a-z 0-9 . _ -',
          schema: { type: 'string' },
        },
      },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From POST /auth/login; 900 s.' } },
    },
    tags: [...new Set(endpoints.map(({ tag }) => tag ?? 'other'))].map((name) => ({ name })),
  };
}

function operation(endpoint: Endpoint, schemas: SchemaBook): Json {
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    tags: [endpoint.tag ?? 'other'],
    security: endpoint.caller === 'anyone' ? [] : [{ bearer: [] }],
    ...(typeof endpoint.caller === 'object' ? { description: `Needs the permission \`${endpoint.caller.permission}\`.` } : {}),
    parameters: [
      { $ref: '#/components/parameters/tenant' },
      { $ref: '#/components/parameters/requestId' },
      ...parameters(endpoint.params, 'path', schemas),
      ...parameters(endpoint.query, 'query', schemas),
      ...headerParameters(endpoint),
    ],
    ...(endpoint.body === undefined ? {} : { requestBody: requestBody(endpoint, schemas) }),
    responses: { ...successes(endpoint, schemas), ...failures(endpoint) },
  };
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query', schemas: SchemaBook): Json[] {
  if (!schema) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, part]) => {
    const { description, ...rest } = schemas.of(part, 'input');
    return {
      name,
      in: place,
      required: place === 'path' || !part.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function headerParameters(endpoint: Endpoint): Json[] {
  const errors = problemsOf(endpoint);
  const header = (name: string, description: string): Json => ({ name, in: 'header', description, schema: { type: 'string' } });
  return [
    ...(errors.includes('precondition_failed') ? [header('If-Match', 'Only when the entity tag is one of these.')] : []),
    ...(endpoint.idempotent ? [header('Idempotency-Key', 'The reply to the first request is kept 24 h and given again.')] : []),
    ...(errors.includes('range_not_satisfiable') ? [header('Range', 'RFC 9110 §14.2.'), header('If-None-Match', 'RFC 9110 §13.1.2.')] : []),
  ];
}

function requestBody(endpoint: Endpoint, schemas: SchemaBook): Json {
  const json = jsonSchemaOf(endpoint);
  const stream = isStreamBody(endpoint.body) ? endpoint.body : undefined;
  return {
    required: !takesNothing(endpoint),
    content: {
      ...Object.fromEntries(stream?.stream.map((type) => [type, { schema: schemas.of(stream.schema, 'input') }]) ?? []),
      ...(json ? { 'application/json': { schema: schemas.of(strict(json), 'input') } } : {}),
    },
  };
}

const ref = (name: string): Json => ({ [name]: { $ref: `#/components/headers/${name}` } });
const ALWAYS = { ...ref('X-Request-Id'), ...ref('X-RateLimit-Limit'), ...ref('X-RateLimit-Remaining'), ...ref('X-RateLimit-Reset') };

function successes(endpoint: Endpoint, schemas: SchemaBook): Json {
  return Object.fromEntries(
    Object.entries(endpoint.replies).map(([status, shape]) => [
      status,
      {
        description: endpoint.summary,
        headers: { ...ALWAYS, ...(has(shape, 'etag') ? ref('ETag') : {}), ...(has(shape, 'pagination') ? ref('Link') : {}) },
        ...(shape === null
          ? {}
          : {
              content:
                'stream' in shape ? { [shape.stream]: { schema: {} } } : { 'application/json': { schema: schemas.of(shape, 'output') } },
            }),
      },
    ]),
  );
}

const has = (shape: ReplyShape, field: string): boolean => shape instanceof z.ZodObject && field in shape.shape;

/** One response a status, listing each code that may stand in it. */
function failures(endpoint: Endpoint): Json {
  const byStatus = Map.groupBy(problemsOf(endpoint), (code) => CATALOGUE[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code].meaning}`).join('\n\n'),
        headers: {
          ...ALWAYS,
          ...(status === 429 || status === 503 ? ref('Retry-After') : {}),
          ...(status === 401 ? ref('WWW-Authenticate') : {}),
        },
        content: { 'application/json': { schema: errorSchema(status, codes) } },
      },
    ]),
  );
}

const errorSchema = (status: number, codes: readonly ProblemCode[]): Json => ({
  type: 'object',
  required: ['error', 'message', 'request_id', ...(status === 429 ? ['retry_after'] : [])],
  additionalProperties: false,
  properties: {
    error: { type: 'string', enum: codes },
    message: { type: 'string' },
    request_id: { type: 'string' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        additionalProperties: false,
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
    ...(status === 429 ? { retry_after: { type: 'integer', description: 'seconds' } } : {}),
  },
});

/** JSON Schemas of zod schemas; those that have an id (`.meta({ id })`) stand once, under components. */
class SchemaBook {
  readonly all: Json = {};

  of(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _dialect, $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json & { $defs?: Json };
    for (const [name, part] of Object.entries($defs)) this.all[name] = relocated(part);
    const { id, ...inline } = relocated(root) as Json;
    if (typeof id !== 'string') return inline;
    this.all[id] = inline;
    return { $ref: `#/components/schemas/${id}` };
  }
}

function relocated(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relocated);
  if (node === null || typeof node !== 'object') return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === '$ref' && typeof value === 'string' ? [key, value.replace('#/$defs/', '#/components/schemas/')] : [key, relocated(value)],
    ),
  );
}
