import { expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { Passwords } from '../../../pkg/accounts/passwords.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { filePart, FORM } from '../content/raw-form.ts';

const MIB = 1 << 20;
const PASSWORD = 'correct horse battery';

const tenant = serverSuite({ realPasswords: true });

/** The head of a request as its bytes go over the wire. */
const head = (line: string, headers: Readonly<Record<string, string | number>>): string =>
  `${[`${line} HTTP/1.1`, 'Host: x', ...Object.entries(headers).map((header) => header.join(': '))].join('\r\n')}\r\n\r\n`;

/** A client that sends this, and then nothing. */
function client(text: string): Socket {
  const socket = connect(Number(new URL(tenant.url).port), '127.0.0.1');
  socket.on('error', () => undefined).write(text);
  return socket;
}

test('downloads whose clients leave at once leave no connection to the store behind', async () => {
  const { body: file } = await tenant.admin.upload('/files', { file: Buffer.alloc(MIB, 'a'), name: 'left' });
  const opened: Socket[] = [];
  const note = (message: unknown): void => void opened.push((message as { socket: Socket }).socket);
  const download = head(`GET /api/v1/files/${file.id}/download`, { Authorization: `Bearer ${tenant.admin.token}` });
  subscribe('net.client.socket', note);
  for (const at of range(200)) {
    const socket = client(download);
    await new Promise((resolve) => setTimeout(resolve, at % 10));
    socket.destroy();
  }
  const { body: small } = await tenant.admin.upload('/files', { file: Buffer.from('small'), name: 'small' });
  expect((await tenant.admin.get(`/files/${small.id}/download`)).bytes.toString()).toBe('small');
  unsubscribe('net.client.socket', note);

  const storePort = Number(new URL(tenant.env.CARREL_S3_ENDPOINT ?? '').port);
  const left = (): Socket[] => opened.filter(({ destroyed, remotePort }) => !destroyed && remotePort === storePort);
  await waitFor('the connections to the store to be released', () => left().length === 0);
});

test('an upload whose client leaves at once does not keep its Idempotency-Key', async () => {
  const body = filePart(Buffer.alloc(1000), 'left');
  const upload = (key: string): string =>
    head('POST /api/v1/files', {
      Authorization: `Bearer ${tenant.admin.token}`,
      'Content-Type': FORM,
      'Content-Length': body.length + 1000,
      'Idempotency-Key': key,
    });
  for (const at of range(60)) {
    const socket = client(upload(`left-${at}`));
    socket.write(body);
    await new Promise((resolve) => setTimeout(resolve, at % 6));
    socket.destroy();
  }

  const held = `SELECT key FROM idempotency_keys WHERE status_code IS NULL AND locked_until > now()`;
  await waitFor('the keys to be free', async () => (await tenant.db.query(held)).length === 0);
});

test('bodies that stand still have a bound in memory, and keep nobody else out', async () => {
  const [{ api: still }, { api: other }] = [await tenant.user(), await tenant.user()];
  const text = JSON.stringify({ name: 'x'.repeat(MIB - 100) });
  const begun = head('POST /api/v1/folders', {
    Authorization: `Bearer ${still.token}`,
    'Content-Type': 'application/json',
    'Content-Length': text.length + 1,
  });
  const statuses: string[] = [];
  const clients = range(40).map(() =>
    client(begun + text).on('data', (chunk: Buffer) => void statuses.push(chunk.toString().slice(9, 12))),
  );

  await waitFor('the refusal of those for which there is no room', () => statuses.length >= 20);
  const large = await other.post('/folders', { name: 'folder', description: 'x'.repeat(MIB / 2) });
  const small = await other.post('/folders', { name: 'folder' });

  expect(countBy(statuses, (status) => status)).toEqual({ 503: statuses.length });
  expect(large.status).toBe(400);
  expect(small.status).toBe(201);
  for (const socket of clients) socket.destroy();
});

test('whom nobody knows may send 64 KiB of JSON', async () => {
  const reply = await tenant.anonymous.post('/auth/login', { email: 'a@example.org', password: 'x'.repeat(64 * 1024) });

  expect([reply.status, reply.body.error]).toEqual([413, 'payload_too_large']);
});

test('two hundred people behind one address who know their passwords sign in at once', async () => {
  const passwordHash = await new Passwords().hash(PASSWORD);
  const people = range(200).map((at) => ({ uuid: randomUUID(), email: `class-${at}@example.org`, username: `class-${at}` }));
  for (const person of people)
    await tenant.db.tables.users.insert({ ...person, tenantId: Number(tenant.tenantId), passwordHash, roles: ['member'] });
  const dispatcher = new Agent({ connections: people.length });
  const signIn = async (email: string): Promise<number> => {
    const reply = await request(`${tenant.apiUrl}/auth/login`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    await reply.body.dump();
    return reply.statusCode;
  };

  const replies = await Promise.all(people.map(({ email }) => signIn(email)));

  expect(countBy(replies, (status) => status)).toEqual({ 200: 200 });
  await dispatcher.close();
});
