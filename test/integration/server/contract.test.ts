import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { type Described, type Document, headOperationsOf, operationsOf, parametersOf } from '../../support/clients/openapi.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';

/** These tests check the API's promises for every operation of its own OpenAPI document. */
const tenant = serverSuite();
let document: Document;
let operations: { name: string; method: string; path: string; needsToken: boolean }[];
beforeAll(async () => {
  document = (await tenant.anonymous.get('/openapi.json')).body as Document;
  operations = operationsOf(document).map(({ name, method, path, security }) => ({
    name,
    method: method.toUpperCase(),
    path,
    needsToken: security.length > 0,
  }));
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
      const reply = await caller.raw(method, `${within(path, 'no-uuid')}?unknown=1&limit=many&limit=2&q=%ff`, {
        headers: wrong,
        ...body,
      });
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
    expect([name, reply.status, named]).toEqual([name, 400, [{ field: 'colour', message: 'is not a known field' }]]);
  }
});

/** A GET with these parameters, and an example of each other that it cannot do without. */
function ask(operation: Described, query: Record<string, string>, headers: Record<string, string> = {}): Promise<ApiReply> {
  const required = parametersOf(document, operation).flatMap((parameter) =>
    parameter.in === 'query' && parameter.required && !(parameter.name in query)
      ? [`${parameter.name}=${encodeURIComponent(String(parameter.example))}`]
      : [],
  );
  const given = Object.entries(query).map(([name, text]) => `${name}=${text}`);
  return tenant.admin.raw('GET', `${within(operation.path, randomUUID())}?${[...required, ...given].join('&')}`, { headers });
}

const takingQuery = (isMeant: (parameter: { name: string; schema: { format?: unknown } }) => boolean): [Described, string][] =>
  operationsOf(document).flatMap((operation) =>
    parametersOf(document, operation).flatMap((parameter): [Described, string][] =>
      parameter.in === 'query' && isMeant(parameter) ? [[operation, parameter.name]] : [],
    ),
  );

test('a time in a query may have any offset and a plain +; outside of years 1 to 9999 it is a 400 that names it', async () => {
  const times = takingQuery(({ schema }) => schema.format === 'date-time');
  const [offsets, noYears] = [
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00%2B02:00', '2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00.123456-15:59'],
    ['0000-01-01T00:00:00Z', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00%2B02:00', '9999-12-31T23:59:59-02:00'],
  ];
  const wrong: unknown[] = [];
  for (const [operation, name] of times)
    for (const headers of [{}, { accept: 'application/x-ndjson' }]) {
      for (const text of offsets) {
        const { status, body } = await ask(operation, { [name]: text }, headers);
        if (status !== 200 && status !== 404) wrong.push([operation.name, name, text, status, body]);
      }
      for (const text of noYears) {
        const { status, body } = await ask(operation, { [name]: text }, headers);
        if (status !== 400 || body.details[0].field !== name) wrong.push([operation.name, name, text, status, body]);
      }
    }

  expect(times.map(([{ path }, name]) => `${path} ${name}`)).toEqual(
    expect.arrayContaining(['/audit after', '/search created_after']),
  );
  expect(wrong).toEqual([]);
});

test('a + in a time of a query is an offset of the east, whether or not it is percent-encoded', async () => {
  const file = await tenant.admin.upload('/files', { name: 'at.txt', file: Buffer.from('x') });
  const local = (minutes: number): string =>
    new Date(Date.parse(file.body.created_at) + 2 * 3_600_000 + minutes * 60_000).toISOString().replace('Z', '');
  const found = async (query: string): Promise<number> => (await tenant.admin.get(`/search?q=at&${query}`)).body.data.length;

  for (const plus of ['+', '%2B'])
    expect([
      await found(`created_after=${local(-1)}${plus}02:00`),
      await found(`created_after=${local(1)}${plus}02:00`),
      await found(`created_before=${local(1)}${plus}02:00`),
    ]).toEqual([1, 0, 1]);
});

test('a search text that folds to nothing, such as an accent alone, finds nothing in every search', async () => {
  await tenant.admin.upload('/files', { name: 'accents.txt', file: Buffer.from('x') });
  const { body: folder } = await tenant.admin.post('/folders', { name: 'accents' });
  await tenant.admin.post('/folders', { name: 'accents', parent_id: folder.id });
  const { body: share } = await tenant.admin.post(`/folders/${folder.id}/share`);
  await tenant.admin.post('/groups', { name: 'accents' });
  const [course] = await tenant.db.query<{ uuid: string }>(
    `WITH made AS (
       INSERT INTO groups (uuid, name, context_id, created_by) SELECT gen_random_uuid(), 'accents', 'c', u.id FROM users u
       WHERE u.is_system RETURNING id, uuid
     ), member AS (
       INSERT INTO lti_members (group_id, subject, name, roles, role, source) SELECT id, 's', 'accents', '{}', 'learner', 'roster'
       FROM made
     ) SELECT uuid FROM made`,
  );
  const searches = takingQuery(({ name }) => name === 'q').map(([{ path }]) =>
    path
      .replace('{id}', path.startsWith('/lti/contexts/') ? (course?.uuid ?? '') : 'root')
      .replace('{token}', String(share.token)),
  );
  const nothing: unknown[] = [];
  const found: string[] = [];
  for (const path of searches) {
    for (const q of ['%CC%81', '%CC%81%CC%80', 'accents+%CC%81'])
      nothing.push([path, q, (await tenant.admin.get(`${path}?q=${q}`)).body.data.length]);
    if ((await tenant.admin.get(`${path}?q=accents`)).body.data.length > 0) found.push(path);
  }

  expect(found).toEqual(searches.filter((path) => path !== '/users'));
  expect(found.length).toBeGreaterThan(4);
  expect(nothing).toEqual(nothing.map((each) => [...(each as unknown[]).slice(0, 2), 0]));
});

test('each path answers the methods that the document has, and refuses any other with those in Allow', async () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
  const wrong: unknown[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    const documented = Object.keys(item).map((method) => method.toUpperCase());
    const address = within(path, randomUUID());
    const refused = await tenant.anonymous.raw('TRACE', address);
    const allowed = refused.headers['allow']?.split(', ');
    if (refused.status !== 405 || JSON.stringify(allowed) !== JSON.stringify(documented.toSorted()))
      wrong.push([path, documented, allowed]);
    for (const method of methods) {
      const { status } = await tenant.anonymous.raw(method, address);
      if ((status !== 405) !== documented.includes(method)) wrong.push([path, method, status]);
    }
  }

  expect(wrong).toEqual([]);
});

test('HEAD is described and answered as GET is: its parameters, statuses and headers, and no body', async () => {
  const gets = operationsOf(document).filter(({ method }) => method === 'get');
  const heads = new Map(headOperationsOf(document).map((operation) => [operation.path, operation]));
  const about = ({ parameters, responses, security }: Described): unknown => [
    parameters,
    security,
    Object.entries(responses).map(([status, { headers }]) => [status, Object.keys(headers)]),
  ];
  for (const get of gets) {
    const head = heads.get(get.path);
    expect([get.path, head && about(head)]).toEqual([get.path, about(get)]);
    expect(Object.values(head?.responses ?? {}).filter(({ content }) => content !== undefined)).toEqual([]);
    const address = within(get.path, randomUUID());
    const [whole, bare] = [await tenant.admin.get(address), await tenant.admin.head(address)];
    expect([get.path, bare.status, bare.headers['content-type'], bare.bytes.length]).toEqual([
      get.path,
      whole.status,
      whole.headers['content-type'],
      0,
    ]);
  }
  expect(heads.size).toBe(gets.length);
});
