import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { filePart, FORM } from '../content/raw-form.ts';

const tenant = serverSuite();

const create = (key: string, name: string, by = tenant.admin): Promise<ApiReply> =>
  by.post('/users', { email: `${name}@idempotent.example`, username: name }, { headers: { 'idempotency-key': key } });

test('a request that is sent again gets the first reply, and is done once', async () => {
  const first = await create('key-1', 'once');
  const again = await create('key-1', 'once');

  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body).toEqual(first.body);
  expect([again.headers.etag, again.headers['idempotency-replayed']]).toEqual([first.headers.etag, 'true']);
});

test('the same key with another request is a 422', async () => {
  await create('key-2', 'first');
  const other = await create('key-2', 'second');

  expect([other.status, other.body.error]).toEqual([422, 'idempotency_key_reused']);
});

test('no hash of a request’s body is stored, so that a password in it cannot be guessed', async () => {
  const body = { email: 'guessed@idempotent.example', username: 'guessed', password: 'correct horse battery 1' };
  const made = await tenant.admin.post('/users', body, { headers: { 'idempotency-key': 'key-guess' } });
  const guess = createHash('sha256')
    .update(`POST /api/v1/users\n${JSON.stringify(body)}`)
    .digest('hex');
  const [row] = await tenant.db.query(`SELECT fingerprint FROM idempotency_keys WHERE key = 'key-guess'`);

  expect(made.status).toBe(201);
  expect(row).toEqual({ fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(row).not.toEqual({ fingerprint: guess });
});

test('one of 50 racing requests with one key is done; the others get 409 while it runs, or its reply', async () => {
  const replies = await Promise.all(range(50).map(() => untilServed(() => create('key-3', 'racer'))));
  const made = replies.filter(({ status }) => status === 201);

  expect(made.length).toBeGreaterThan(0);
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
  expect(made.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
  expect(
    replies.filter(({ status }) => status !== 201).every(({ status, body }) => status === 409 && body.error === 'conflict'),
  ).toBe(true);
});

test('a request that failed leaves its key free', async () => {
  await create('key-4', 'there');
  const taken = await create('key-5', 'there');
  const other = await create('key-5', 'elsewhere');

  expect([taken.status, other.status]).toEqual([409, 201]);
});

test('a key belongs to the user who sent it', async () => {
  const { api } = await tenant.user({ roles: ['admin'] });

  const [mine, theirs] = [await create('key-6', 'mine'), await create('key-6', 'theirs', api)];

  expect([mine.status, theirs.status, mine.body.id === theirs.body.id]).toEqual([201, 201, false]);
});

test('after 24 hours a key is as good as new', async () => {
  await create('key-7', 'yesterday');
  await tenant.db.query(`UPDATE idempotency_keys SET expires_at = now() - interval '1 second' WHERE key = 'key-7'`);

  expect((await create('key-7', 'today')).body.username).toBe('today');
});

test('kept replies go once they are 24 hours old, with whatever key comes next', async () => {
  await tenant.db.query(
    `INSERT INTO idempotency_keys (user_id, key, fingerprint, locked_until, status_code, body, expires_at)
     SELECT u.id, 'old-' || n, 'x', now(), 200, '{}', now() - interval '1 minute'
     FROM (SELECT min(id) AS id FROM users) u, generate_series(1, 150) n`,
  );
  const old = async (): Promise<number> =>
    (await tenant.db.query(`SELECT FROM idempotency_keys WHERE expires_at <= now()`)).length;
  const before = await old();

  await create('key-9', 'sweeper');
  await create('key-10', 'sweepers');

  expect(before).toBe(150);
  expect(await old()).toBe(0);
  expect((await create('key-9', 'sweeper')).headers['idempotency-replayed']).toBe('true');
});

test('a key whose request died with its server is free when its lock has lapsed', async () => {
  await create('key-8', 'dead');
  await tenant.db.query(
    `UPDATE idempotency_keys SET status_code = NULL, body = NULL, locked_until = now() + interval '1 minute' WHERE key = 'key-8'`,
  );
  const held = await create('key-8', 'dead');
  await tenant.db.query(`UPDATE idempotency_keys SET locked_until = now() - interval '1 second' WHERE key = 'key-8'`);
  const free = await create('key-8', 'dead');

  expect([held.status, held.headers['retry-after']]).toEqual([409, '1']);
  expect([free.status, free.body.message]).toEqual([409, 'Another user has this e-mail address.']);
});

test('an upload that is sent again makes no second file', async () => {
  const upload = { name: 'once.txt', file: Buffer.from('once'), headers: { 'idempotency-key': 'upload-1' } };
  const [first, again] = [await tenant.admin.upload('/files', upload), await tenant.admin.upload('/files', upload)];

  expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
  expect(countBy((await tenant.admin.get('/files')).body.data as { name: string }[], ({ name }) => name)).toEqual({
    'once.txt': 1,
  });
});

/** Returns what a client reads that first writes everything, or the error of its connection. */
async function writtenFirst(head: readonly string[], body: Buffer): Promise<string> {
  const socket = connect({ port: Number(new URL(tenant.url).port), host: '127.0.0.1' }).pause();
  let answer = '';
  const closed = new Promise((resolve) => socket.on('error', (error) => (answer = error.message)).on('close', resolve));
  socket.write(`${[...head, `Content-Length: ${body.length}`, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  await new Promise((resolve) => socket.write(body, resolve));
  socket.on('data', (chunk) => (answer += String(chunk))).resume();
  await closed;
  return answer;
}

test('a client that reads no answer before it has sent its 20 MB gets the first reply too', async () => {
  const headers = [
    `Host: ${new URL(tenant.url).host}`,
    `Authorization: Bearer ${tenant.admin.token}`,
    'Idempotency-Key: upload-2',
  ];
  const head = ['POST /api/v1/files HTTP/1.1', ...headers, `Content-Type: ${FORM}`];
  const body = Buffer.concat([filePart(Buffer.alloc(20_000_000), 'big.bin'), Buffer.from('--hostile-boundary--\r\n')]);

  const first = await writtenFirst(head, body);
  const again = await writtenFirst(head, body);

  expect(first).toMatch(/^HTTP\/1\.1 201 /);
  expect(again).toMatch(/^HTTP\/1\.1 201 [\s\S]*^idempotency-replayed: true\r\n/im);
  expect(again.split('\r\n\r\n')[1]).toBe(first.split('\r\n\r\n')[1]);
});

test.each(['', 'with space', 'ä', 'x'.repeat(256)])('the key %j is a 400', async (key) => {
  const reply = await create(Buffer.from(key).toString('latin1'), 'bad');

  expect([reply.status, reply.body.details?.[0]?.field]).toEqual([400, 'Idempotency-Key']);
});
