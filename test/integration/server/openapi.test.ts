import { beforeAll, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { EVENTS } from '../../../pkg/events/catalogue.ts';
import {
  type Described,
  type Document,
  headOperationsOf,
  operationsOf,
  parametersOf,
  type Schema,
  schemaChecker,
} from '../../support/clients/openapi.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

const tenant = serverSuite();
let document: Document;
let check: (schema: Schema, value: unknown) => string;
beforeAll(async () => {
  document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  check = schemaChecker(document);
});

const operations = (): [string, Described][] => operationsOf(document).map((operation) => [operation.name, operation]);

/** Every schema of the document, with where it stands. */
function* schemas(node: unknown = document, path = '#'): Generator<[string, Schema]> {
  if (node === null || typeof node !== 'object') return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'example') continue;
    if ('type' in node && key === 'type') yield [path, node as Schema];
    yield* schemas(value, `${path}/${key}`);
  }
}

test('it is 3.1, of interface version 1.0, at the address of the API, and needs no sign-in', () => {
  expect([document.openapi, document.info.version, document.servers]).toEqual(['3.1.0', '1.0', [{ url: tenant.apiUrl }]]);
});

test('it has every operation that clients were promised', () => {
  const names = new Set(operations().map(([name]) => name));

  for (const name of [
    'post /auth/login',
    'post /auth/refresh',
    'post /auth/logout',
    'get /files',
    'post /files',
    'get /files/{id}',
    'put /files/{id}',
    'delete /files/{id}',
    'get /files/{id}/download',
    'get /users',
    'post /users',
    'get /users/{id}',
    'put /users/{id}',
    'delete /users/{id}',
  ])
    expect(names).toContain(name);
});

test('every reference in it leads somewhere, and operation ids are unique', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference as string);
  const found = references.map((reference) =>
    reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document),
  );
  const ids = operations().map(([, { operationId }]) => operationId);

  expect(references.filter((_reference, at) => found[at] === undefined)).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every operation documents its limits, its errors by status with their codes, and the parameters of its path', () => {
  for (const [name, operation] of operations()) {
    const codes = (status: string): string[] =>
      (
        operation.responses[status]?.content?.['application/json']?.schema.properties as
          | { error?: { enum?: string[] } }
          | undefined
      )?.error?.enum ?? [];
    const inPath = operation.parameters.flatMap((parameter) =>
      'in' in parameter && parameter.in === 'path' ? [parameter.name] : [],
    );

    expect([name, codes('429').includes('rate_limit_exceeded'), codes('503').includes('unavailable'), codes('400')]).toEqual([
      name,
      true,
      true,
      ['validation_failed'],
    ]);
    expect([name, operation.security.length > 0]).toEqual([name, codes('401').includes('unauthenticated')]);
    expect([name, inPath]).toEqual([name, [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)]);
    expect(Object.values(operation.responses).every(({ headers }) => 'X-RateLimit-Remaining' in headers)).toBe(true);
  }
});

test('every list has an entity tag, and a 304 with the headers that its 200 has', () => {
  const isList = ({ responses }: Described): boolean => 'Link' in (responses['200']?.headers ?? {});
  const lists = operationsOf(document).filter(isList);

  expect(lists.length).toBeGreaterThan(35);
  expect(lists.filter(({ method }) => method !== 'get')).toEqual([]);
  for (const list of [...lists, ...headOperationsOf(document).filter(isList)]) {
    const headers = (status: string): string[] => Object.keys(list.responses[status]?.headers ?? {});
    expect([list.name, headers('304')]).toEqual([list.name, headers('200').filter((header) => header !== 'Content-Encoding')]);
    expect([list.name, headers('304').includes('ETag'), list.responses['304']?.content]).toEqual([list.name, true, undefined]);
    expect(parametersOf(document, list).map(({ name }) => name)).toContain('If-None-Match');
  }
});

test('the reference page names every endpoint and loads nothing from elsewhere', async () => {
  const page = await tenant.anonymous.get('/reference');
  const html = page.bytes.toString();

  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  for (const path of Object.keys(document.paths)) expect(html).toContain(`<code>${path}</code>`);
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  expect(html).not.toMatch(/<script>|<style|style=|https?:\/\/(?!127\.0\.0\.1)/);
});

test('it is an OpenAPI document by the schema of the OpenAPI initiative', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as object as Record<string, unknown>);

  expect([valid, errors]).toEqual([true, undefined]);
});

test('a generator finds what it names methods and types by', () => {
  const declared = document.tags.map(({ name }) => name);
  for (const { name, operationId, summary, tags, parameters } of [
    ...operationsOf(document),
    ...Object.values(document.webhooks).map(({ post }) => ({ ...post, name: post.operationId })),
  ]) {
    expect([name, operationId]).toEqual([name, expect.stringMatching(/^[a-z][A-Za-z]+$/)]);
    expect([name, summary.length > 0, tags.every((tag) => declared.includes(tag))]).toEqual([name, true, true]);
    const keys = parametersOf(document, { parameters } as Described).map((parameter) => `${parameter.in} ${parameter.name}`);
    expect([name, new Set(keys).size]).toEqual([name, keys.length]);
  }
  for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
  for (const [path, schema] of schemas()) if ('$ref' in schema) throw new Error(`${path} has a type beside its $ref`);
});

test('patterns say the same in every language: no look-around, no classes that differ, no flags', () => {
  const patterns = [...schemas()].flatMap(([path, { pattern }]) =>
    typeof pattern === 'string' ? [[path, pattern] as const] : [],
  );

  expect(patterns.length).toBeGreaterThan(20);
  for (const [path, pattern] of patterns) {
    expect([path, pattern]).toEqual([path, expect.stringMatching(/^\^.*\$$/s)]);
    expect([path, pattern.match(/\\[pPdDsSwWbBkAZz1-9]|\(\?(?!:)/)?.[0]]).toEqual([path, undefined]);
    for (const flags of ['', 'u']) expect(() => new RegExp(pattern, flags)).not.toThrow();
  }
});

test('text that a client sends has a greatest length or a form', () => {
  const sent = operationsOf(document).flatMap((operation) => [
    ...parametersOf(document, operation).flatMap((parameter) => [
      ...schemas(parameter.schema, `${operation.name} ${parameter.name}`),
    ]),
    ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) => [
      ...schemas(resolve(schema), `${operation.name} body`),
    ]),
  ]);
  const loose = sent.filter(
    ([, { type, maxLength, pattern, enum: values, const: only, format }]) =>
      type === 'string' && [maxLength, pattern, values, only].every((bound) => bound === undefined) && format !== 'binary',
  );

  // These three are heeded where they can be read, and never refused.
  const heeded = new Set(['X-Request-Id', 'Range', 'If-Range']);
  expect(loose.map(([path]) => path).filter((path) => !heeded.has(path.split(' ').at(-1) ?? ''))).toEqual([]);
});

const resolve = (schema: Schema): Schema =>
  typeof schema.$ref === 'string' ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema) : schema;

test('each schema, parameter, body and reply has an example that is valid by its own schema', () => {
  const wrong: string[] = [];
  const judge = (where: string, schema: Schema, holder: object): void => {
    if (!('example' in holder)) wrong.push(`${where} has no example`);
    else if (check(schema, holder.example) !== '') wrong.push(`${where}: ${check(schema, holder.example)}`);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) judge(name, schema, schema);
  for (const [name, header] of Object.entries(document.components.headers)) judge(name, header.schema as Schema, header);
  for (const operation of [
    ...operationsOf(document),
    ...Object.values(document.webhooks).map(({ post }) => ({ ...post, name: post.operationId })),
  ]) {
    for (const parameter of parametersOf(document, operation))
      if (parameter.name !== 'cursor') judge(`${operation.name} ${parameter.name}`, parameter.schema, parameter);
    for (const content of Object.values(operation.requestBody?.content ?? {}))
      judge(`${operation.name} body`, content.schema, content);
    for (const [status, { content = {} }] of Object.entries(operation.responses))
      for (const [type, reply] of Object.entries(content))
        if (type === 'application/json') judge(`${operation.name} ${status}`, reply.schema, reply);
  }

  expect(wrong).toEqual([]);
});

test('the document describes parameters as exactly as they are enforced', () => {
  const parameter = (name: string, called: string): Schema | undefined => {
    const operation = operationsOf(document).find((each) => each.name === name);
    return operation && parametersOf(document, operation).find((each) => each.name === called)?.schema;
  };
  const sort = new RegExp(parameter('get /files', 'sort')?.pattern as string);

  expect(parameter('get /files', 'limit')).toEqual({ type: 'integer', minimum: 1, maximum: 200, default: 50 });
  expect(parameter('get /files', 'trashed')).toEqual({ type: 'boolean' });
  expect(parameter('get /files', 'cursor')).toEqual({ type: 'string', maxLength: 2000, pattern: '^[A-Za-z0-9_-]+$' });
  expect(['name', '-size,name', 'name,-size,created_at'].map((text) => sort.test(text))).toEqual([true, true, true]);
  expect(
    ['', 'name,name', 'name,-name', 'owner', 'name,', '--name', 'name,size,created_at,updated_at'].filter((text) =>
      sort.test(text),
    ),
  ).toEqual([]);
  for (const name of ['get /files', 'get /files/{id}']) {
    const include = new RegExp(parameter(name, 'include')?.pattern as string);
    expect(['tags', 'metadata,tags', 'permissions,versions_count,metadata,tags'].filter((text) => !include.test(text))).toEqual(
      [],
    );
    expect(
      ['', 'tags,', 'tags,tags', 'tags,metadata,tags', 'tags, metadata', 'Tags', 'owner'].filter((text) => include.test(text)),
    ).toEqual([]);
  }
  expect(parameter('get /files', 'tag')).toMatchObject({
    type: 'array',
    maxItems: 10,
    items: { type: 'string', maxLength: 100 },
  });
  expect(parameter('get /files', 'metadata')).toMatchObject({
    type: 'object',
    maxProperties: 10,
    propertyNames: { maxLength: 100 },
    additionalProperties: { type: 'string', maxLength: 1_000 },
  });
  const styles = operationsOf(document).flatMap(({ name, parameters }) =>
    parameters.flatMap((each) => ('style' in each ? [[name, 'name' in each && each.name, each.style]] : [])),
  );
  expect(styles).toEqual([['get /files', 'metadata', 'deepObject']]);
  expect(parameter('get /files', 'X-Tenant-ID')).toEqual({ type: 'string', pattern: `^(${tenant.slug}|${tenant.tenantId})$` });
  expect(parameter('patch /files/{id}', 'If-Match')?.pattern).toContain('(W/)?"');
  expect(parameter('get /files/{id}', 'If-None-Match')?.pattern).toContain('(W/)?"');
  expect(parameter('post /users', 'Idempotency-Key')?.pattern).toBe('^[!-~]{1,255}$');
});

test('each event is a webhook with its payload and the headers that prove it', () => {
  expect(Object.keys(document.webhooks)).toEqual(Object.keys(EVENTS));
  for (const [event, { post }] of Object.entries(document.webhooks)) {
    expect(post.parameters.map((parameter) => 'name' in parameter && parameter.name)).toEqual([
      'X-Carrel-Signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
    expect(post.requestBody?.content['application/json']?.example).toMatchObject({
      event,
      timestamp: expect.any(String),
      data: { id: expect.any(String) },
    });
  }
});
