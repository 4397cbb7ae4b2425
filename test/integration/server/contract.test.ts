import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { serverSuite } from '../../support/server-suite.ts';

/** What the API promises of every operation, walked over its own OpenAPI document. */
const tenant = serverSuite();
let operations: { name: string; method: string; path: string; needsToken: boolean }[];
beforeAll(async () => {
  const { paths } = (await tenant.anonymous.get('/openapi.json')).body as {
    paths: Record<string, Record<string, { security: unknown[] }>>;
  };
  operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { security }]) => ({
      name: `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      needsToken: security.length > 0,
    })),
  );
});

/** The number of a version is no id. */
const within = (path: string, value: string): string => path.replaceAll('{number}', '1').replaceAll(/\{\w+\}/g, value);

test('without a token that holds it is a 401, whatever else is wrong with the request', async () => {
  const wrong = {
    'x-tenant-id': 'another',
    'if-match': 'unquoted',
    'if-none-match': 'unquoted',
    'idempotency-key': 'with space',
    'content-type': 'text/plain',
  };
  const other = tenant.anonymous.as(`${tenant.admin.token}x`);
  const closed = operations.filter(({ needsToken }) => needsToken);
  const answers: unknown[] = [];
  for (const { name, method, path } of closed) {
    for (const caller of [tenant.anonymous, other, tenant.anonymous.as('no token at all')]) {
      const body = method === 'GET' ? {} : { body: `{"half": ${'['.repeat(100)}` };
      const reply = await caller.raw(method, `${within(path, 'no-uuid')}?unknown=1&limit=many&limit=2&q=%ff`, { headers: wrong, ...body });
      answers.push([name, reply.status, reply.body?.error]);
    }
  }

  expect(closed.length).toBeGreaterThan(30);
  expect(answers).toEqual(closed.flatMap(({ name }) => [name, name, name].map((each) => [each, 401, 'unauthenticated'])));
});

test('a parameter that an operation does not know is a 400 that names it', async () => {
  for (const { name, method, path, needsToken } of operations) {
    const caller = needsToken ? tenant.admin : tenant.anonymous;
    const reply = await caller.raw(method, `${within(path, randomUUID())}?colour=red`);

    const named = reply.body.details.filter(({ field }: { field: string }) => field === 'colour');
    expect([name, reply.status, named]).toEqual([name, 400, [{ field: 'colour', message: 'is not known here' }]]);
  }
});
