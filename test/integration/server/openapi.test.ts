import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTenant, type TestTenant } from '../../support/server.ts';

interface Operation {
  operationId: string;
  security: unknown[];
  responses: Record<
    string,
    {
      description: string;
      headers: Record<string, unknown>;
      content?: Record<string, { schema: { properties?: Record<string, { enum?: string[] }> } }>;
    }
  >;
  parameters: ({ name: string; in: string; required?: boolean } | { $ref: string })[];
}

let tenant: TestTenant;
let document: {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
};
beforeAll(async () => {
  tenant = await startTenant();
  document = (await tenant.anonymous.get('/openapi.json')).body;
});
afterAll(() => tenant.stop());

const operations = (): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );

test('whoever opens the address itself is shown the reference', async () => {
  const reply = await fetch(tenant.url, { redirect: 'manual' });

  expect([reply.status, reply.headers.get('location')]).toEqual([302, '/api/v1/docs']);
});

test('it is 3.1, of interface version 1.0, at the address of the API, and needs no sign-in', () => {
  expect([document.openapi, document.info.version, document.servers]).toEqual(['3.1.0', '1.0', [{ url: tenant.apiUrl }]]);
});

test('it has every operation of the specification that stands', () => {
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

test('every operation tells its limits, its refusals by status with their codes, and the parameters of its path', () => {
  for (const [name, operation] of operations()) {
    const codes = (status: string): string[] =>
      operation.responses[status]?.content?.['application/json']?.schema.properties?.error?.enum ?? [];
    const inPath = operation.parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? [parameter.name] : []));

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

test('the reference page names every endpoint and loads nothing from elsewhere', async () => {
  const page = await tenant.anonymous.get('/docs');
  const html = page.bytes.toString();

  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  for (const path of Object.keys(document.paths)) expect(html).toContain(`<code>${path}</code>`);
  expect(html).not.toMatch(/<script|https?:\/\/(?!127\.0\.0\.1)/);
});
