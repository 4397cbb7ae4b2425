import { readFileSync } from 'node:fs';
import { METHODS, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { type ApiReply, sendRaw } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { inParallel, range, waitFor } from '../../support/wait.ts';

const tenant = serverSuite();

const refused = (reply: ApiReply): [number, string, string | undefined] => [
  reply.status,
  reply.body?.error,
  reply.body?.details?.[0]?.field,
];

/** Returns the bytes that the kernel holds for a socket that does not read. */
function unreadBytes({ localPort = 0, remotePort = 0 }: Socket): number {
  const suffix = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  // A port of ours may be that of another connection too, to another place.
  const columns = lines
    .map((line) => line.trim().split(/\s+/))
    .find(([, local, remote]) => local?.endsWith(suffix(localPort)) && remote?.endsWith(suffix(remotePort)));
  const queues = columns?.[4]?.split(':'); // to be sent, to be read
  return Number.parseInt(queues?.[1] ?? '0', 16);
}

describe('the one shape of errors', () => {
  test('has code, message and the request id of the header, which the client may choose', async () => {
    const reply = await tenant.anonymous.get('/nothing', { headers: { 'x-request-id': 'my-request-1' } });

    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ error: 'not_found', message: expect.any(String), request_id: 'my-request-1' });
    expect(reply.headers['x-request-id']).toBe('my-request-1');
  });

  test('a request id that could forge a line of the log is replaced', async () => {
    const reply = await tenant.anonymous.get('/nothing', { headers: { 'x-request-id': 'a"} {"level":"error' } });

    expect(reply.body.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('an address that takes other methods is a 405 that lists them', async () => {
    const reply = await tenant.admin.patch('/users', {});

    expect([reply.status, reply.body.error, reply.headers.allow]).toEqual([405, 'method_not_allowed', 'GET, HEAD, POST']);
  });

  test('an address that stands for itself is no id of the address beside it', async () => {
    const reply = await tenant.admin.put('/users/me', { display_name: 'A' });

    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  test('without a token it is a 401 that says how to authenticate', async () => {
    const reply = await tenant.anonymous.get('/users/me');

    expect([reply.status, reply.body.error, reply.headers['www-authenticate']]).toEqual([401, 'unauthenticated', 'Bearer']);
  });

  test('nothing of the API is stored by caches or guessed at by browsers', async () => {
    const { headers } = await tenant.admin.get('/users/me');

    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
    });
  });
});

describe('X-Tenant-ID', () => {
  test('may be left out, or name the tenant by slug or number', async () => {
    const named = [undefined, tenant.slug, tenant.tenantId];
    const replies = await Promise.all(
      named.map((name) => tenant.admin.get('/users/me', { headers: name === undefined ? {} : { 'x-tenant-id': name } })),
    );

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test.each(['another', '0', ''])('%j is another tenant: 403', async (name) => {
    expect(refused(await tenant.admin.get('/users/me', { headers: { 'x-tenant-id': name } }))).toEqual([
      403,
      'tenant_mismatch',
      undefined,
    ]);
  });
});

describe('parameters', () => {
  test.each([
    ['an unknown one', '?colour=red', 'colour'],
    ['one that is sent twice', '?limit=1&limit=2', 'limit'],
    ['a limit past 200', '?limit=201', 'limit'],
    ['a limit that is no number', '?limit=many', 'limit'],
    ['a sort field that is none', '?sort=password', 'sort'],
    ['a cursor of somebody else', '?cursor=eyJzIjoieCIsInYiOltdfQ', 'cursor'],
    ['bytes that are not UTF-8', '?q=%ff', 'query'],
    ['a NUL', '?q=%00', 'q'],
  ])('%s is a 400 that names it', async (_what, query, field) => {
    expect(refused(await tenant.admin.get(`/users${query}`))).toEqual([400, 'validation_failed', field]);
  });

  const cursor = (...values: unknown[]): string =>
    Buffer.from(JSON.stringify({ s: '-created_at,-id', v: values })).toString('base64url');

  test.each([
    ['text for a time', cursor("' OR 1=1", 1)],
    ['a time out of range', cursor('9999999-01-01T00:00:00Z', 1)],
    ['text for a number', cursor('2026-01-01T00:00:00Z', 'x')],
    ['a NUL', cursor('\0', 1)],
  ])('a cursor that somebody changed to hold %s is a 400', async (_what, changed) => {
    expect(refused(await tenant.admin.get(`/users?cursor=${changed}`))).toEqual([400, 'validation_failed', 'cursor']);
  });

  test('an id that is no UUID is a 400, one of nobody a 404', async () => {
    expect(refused(await tenant.admin.get('/users/1'))).toEqual([400, 'validation_failed', 'id']);
    expect(refused(await tenant.admin.get('/users/%zz'))).toEqual([400, 'validation_failed', 'id']);
    expect(refused(await tenant.admin.get('/users/7b0c6d6e-0000-4000-8000-000000000000'))).toEqual([404, 'not_found', undefined]);
  });

  test.each(['a', '"a', '"a" "b"', ','])('the malformed If-Match %j is a 400', async (value) => {
    const me = await tenant.admin.get('/users/me');

    expect(
      refused(await tenant.admin.patch(`/users/${me.body.id}`, { display_name: 'A' }, { headers: { 'if-match': value } })),
    ).toEqual([400, 'validation_failed', 'If-Match']);
  });
});

describe('JSON bodies', () => {
  const user = { email: 'json@example.org', username: 'json' };
  const send = (body: string, type = 'application/json'): Promise<ApiReply> =>
    tenant.admin.post('/users', body, { headers: { 'content-type': type } });

  test.each([
    ['an unknown key', JSON.stringify({ ...user, is_admin: true }), 'is_admin'],
    ['a key of objects', '{"email":"a@b.example","username":"a","__proto__":{"roles":["admin"]}}', '__proto__'],
    ['an integer of 2^53', '{"email":"a@b.example","username":"a","storage_quota":9007199254740992}', 'storage_quota'],
    ['a NUL', String.raw`{"email":"a@b.example","username":"a","display_name":"\u0000"}`, 'display_name'],
    ['100,000 nested lists', '['.repeat(100_000), 'body'],
    ['half an object', '{"email":', 'body'],
    ['a list', '[]', 'body'],
    ['nothing', '', 'body'],
  ])('%s is a 400 that names it', async (_what, body, field) => {
    expect(refused(await send(body))).toEqual([400, 'validation_failed', field]);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
  ])('as %s they are a 415', async (type) => {
    expect(refused(await send(JSON.stringify(user), type))).toEqual([415, 'unsupported_media_type', undefined]);
  });

  test('of more than 1 MiB they are a 413, with or without Content-Length', async () => {
    const big = JSON.stringify({ ...user, display_name: 'x'.repeat(1024 * 1024) });
    const chunked = await tenant.admin.raw('POST', '/users', {
      headers: { 'content-type': 'application/json' },
      body: Readable.from([Buffer.from(big)]),
    });

    expect(refused(await send(big))).toEqual([413, 'payload_too_large', undefined]);
    expect(refused(chunked)).toEqual([413, 'payload_too_large', undefined]);
  });

  test.each([
    ['/api/v1/files', 401, 0],
    ['/launch', 421, 0],
    ['/launch', 421, 2_100],
  ])(
    'a client that reads no answer before it has sent 12 MB to %s gets the refusal (%i), though the server stands still %i ms',
    async (path, status, stillMs) => {
      const socket = connect({ port: Number(new URL(tenant.url).port), host: '127.0.0.1' }).pause();
      let answer = '';
      const closed = new Promise((resolve) => socket.on('error', (error) => (answer = error.message)).on('close', resolve));
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 12000000\r\n\r\n`);
      await waitFor('the refusal to lie unread', () => unreadBytes(socket) > 0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stillMs);
      // More than lies in the buffers of two sockets, and at once: a refused body is taken for two seconds.
      for (const chunk of range(12).map(() => Buffer.alloc(1_000_000)))
        await new Promise((resolve) => socket.write(chunk, resolve));
      socket.on('data', (chunk) => (answer += String(chunk))).resume();
      await closed;

      expect(answer.slice(0, 13)).toBe(`HTTP/1.1 ${status} `);
    },
  );

  test('where none is taken one is a 400, save the empty object that some clients always send', async () => {
    const { api } = await tenant.user();

    expect(refused(await api.post('/auth/logout', { everywhere: true }))).toEqual([400, 'validation_failed', 'body']);
    expect((await api.post('/auth/logout', {})).status).toBe(204);
  });
});

describe('HEAD', () => {
  test('of a GET gives its headers and no body', async () => {
    const [get, head] = [await tenant.admin.get('/users/me'), await tenant.admin.head('/users/me')];

    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect([head.headers.etag, head.headers['content-length']]).toEqual([get.headers.etag, get.headers['content-length']]);
  });
});

describe('what Node refuses before the application', () => {
  /** `late` is sent when the reply has begun. */
  const exchange = (text: string, late?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(new URL(tenant.url).port), '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => chunks.push(chunk));
      if (late !== undefined) socket.once('data', () => socket.write(late));
      socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
      socket.on('error', reject);
    });

  test('headers past 16 KiB are a 431 in the one shape', async () => {
    const reply = await exchange(`GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`);

    expect(reply).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(reply.split('\r\n\r\n')[1] as string)).toEqual({
      error: 'headers_too_large',
      message: expect.any(String),
      request_id: expect.any(String),
    });
  });

  const refusedRaw = async (text: string): Promise<[string | undefined, string | undefined]> => {
    const reply = await exchange(text);
    const body = reply.split('\r\n\r\n')[1];
    return [reply.split(' ')[1], body ? (JSON.parse(body) as { error: string }).error : undefined];
  };

  test.each([
    ['no Host', ''],
    ['two Hosts', 'Host: a\r\nHost: b\r\n'],
  ])('%s is a 400 in the one shape', async (_what, host) => {
    expect(await refusedRaw(`GET /api/v1/openapi.json HTTP/1.1\r\nConnection: close\r\n${host}\r\n`)).toEqual([
      '400',
      'validation_failed',
    ]);
  });

  test('a header that is sent twice where one counts is not taken for its first', async () => {
    const twice = [`Bearer ${tenant.admin.token}`, 'Bearer another'].flatMap((value) => ['authorization', value]);

    expect((await sendRaw(`${tenant.apiUrl}/users/me`, { headers: ['host', 'x', ...twice] })).status).toBe(401);
  });

  test('CONNECT is a 405, and an expectation that we do not know is ignored', async () => {
    expect(await refusedRaw('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n')).toEqual(['405', 'method_not_allowed']);
    expect(await refusedRaw('GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\n\r\n')).toEqual([
      '401',
      'unauthenticated',
    ]);
  });

  test('nonsense after a request whose reply has begun does not get into that reply', async () => {
    const { body } = await tenant.admin.upload('/files', { name: 'pure.bin', file: Buffer.alloc(8_000_000, 'x') });
    const authorization = `Authorization: Bearer ${tenant.admin.token}`;
    const get = `GET /api/v1/files/${body.id}/download HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`;

    const [, content = ''] = (await exchange(get, 'nonsense\r\n\r\n')).split('\r\n\r\n');

    expect(content.replaceAll('x', '')).toBe('');
  });

  test('what is no HTTP is a 400 in the one shape', async () => {
    const reply = await exchange('HELO there\r\n\r\n');

    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(reply.split('\r\n\r\n')[1] as string)).toMatchObject({ error: 'validation_failed' });
  });
});

test('a GET of a resource that the client has already is answered 304, whichever resource it is', async () => {
  const folder = await tenant.admin.post('/folders', { name: 'known' });
  const paths = ['/users/me', `/folders/${folder.body.id}`];
  const shown = await Promise.all(paths.map((path) => tenant.admin.get(path)));
  const again = (etag: (reply: ApiReply) => string) =>
    Promise.all(
      shown.map((reply, index) => tenant.admin.get(paths[index] as string, { headers: { 'if-none-match': etag(reply) } })),
    );
  const known = await again(({ headers }) => `"x", W/${headers['etag']}`);
  const other = await again(() => '"x"');
  const malformed = await again(() => 'x');

  expect(known.map(({ status, bytes, headers }) => [status, bytes.length, headers['etag']])).toEqual(
    shown.map(({ headers }) => [304, 0, headers['etag']]),
  );
  expect([...other, ...malformed].map(({ status }) => status)).toEqual([200, 200, 400, 400]);
});

test('probes and metrics answer on their own port, by route and not by path', async () => {
  await tenant.admin.get('/users/7b0c6d6e-0000-4000-8000-000000000000');
  const [health, ready, metrics] = await Promise.all(
    ['healthz', 'readyz', 'metrics'].map((name) => fetch(`${tenant.opsUrl}/${name}`)),
  );

  expect([health?.status, ready?.status]).toEqual([200, 200]);
  const text = (await metrics?.text()) ?? '';
  expect(text).toMatch(/^http_request_duration_seconds_count\{.*method="GET",route="\/users\/\{id\}",status="4xx"/m);
  expect(text.includes('7b0c6d6e')).toBe(false);
});

test('a full quota has a status of its own in the metrics, since it is no failure of the server', async () => {
  const { api } = await tenant.user({ storage_quota: 1 });

  const refused = await api.upload('/files', { name: 'a.txt', file: Buffer.from('more') });

  expect(refused.status).toBe(507);
  const text = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
  expect(text).toMatch(/^http_request_duration_seconds_count\{.*method="POST",route="\/files",status="507"/m);
});

test('whatever a scanner sends, the metrics have only the series of routes and seven methods', async () => {
  const seriesOf = async (): Promise<string[]> => {
    const text = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
    return [...text.matchAll(/^(http_request_duration_seconds_count|http_\w+_total|egress_\w+|cache_\w+)\{([^}]*)\}/gm)].map(
      ([series]) => series,
    );
  };
  const paths = (round: number): string[] => [
    ...range(20).map((i) => `/${round}-${i}.php?${round}=${i}`),
    ...range(20).map((i) => `/api/v1/${round}/${i}/files`),
    ...range(20).map((i) => `/api/v1/files/${round}-${i}`),
    ...range(20).map((i) => `/api/v1/files/00000000-0000-4000-8000-${String(round * 100 + i).padStart(12, '0')}/content/${i}`),
    ...range(20).map((i) => `/api/v1/users/%2e%2e%2f${round}${i}%00%0a`),
    ...range(10).map((i) => `/s/${`${round}${i}`.repeat(32)}`),
    `/${'a'.repeat(4_000)}${round}`,
    `//${round}//..//..//etc/passwd`,
    `/api/v1/files?${'x'.repeat(1_000)}${round}`,
  ];
  const send = (path: string, method: string, round: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const headers = { 'x-tenant-id': `t-${round}-${path.length}`, 'user-agent': `scanner ${round}`, connection: 'close' };
      const sent = request(`${tenant.url}/`, { method, path, headers }, (reply) => reply.resume().once('close', resolve));
      sent.once('error', reject).end();
    });
  const scan = async (round: number): Promise<void> => {
    await inParallel(paths(round), 10, (path) => send(path, 'GET', round));
    const methods = METHODS.filter((method) => method !== 'CONNECT');
    await inParallel(
      methods.flatMap(
        (method) =>
          [
            [`/${round}`, method],
            [`/api/v1/files/${round}`, method],
          ] as const,
      ),
      10,
      ([path, method]) => send(path, method, round),
    );
  };

  await scan(1);
  const first = await seriesOf();
  await scan(2);
  await scan(3);

  expect(await seriesOf()).toEqual(first);
  const labels = (name: string): string[] => [
    ...new Set(first.flatMap((series) => new RegExp(`${name}="([^"]*)"`).exec(series)?.[1] ?? [])),
  ];
  expect(labels('method').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'other']);
  // A path as it is declared; a scanner's has digits, or is none of ours.
  expect(labels('route').filter((route) => !/^(\/(\{[a-z_]+\}|[a-z_.-]+))+$/.test(route))).toEqual(['(none)']);
});
