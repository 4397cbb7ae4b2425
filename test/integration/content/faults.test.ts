import { expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { ownStores, serverSuite } from '../../support/suites/server-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { objectCount, quotaOf } from './tenant-state.ts';

const running = ownStores();
const tenant = serverSuite({ stores: running });

test('an S3 failure in the middle of an upload is a 503 and leaves no row, no object and an unchanged quota', async () => {
  const { api, user } = await tenant.user();
  await api.upload('/files', { file: Buffer.from('before'), name: 'before' });
  const MIB = 1 << 20;
  const file = Readable.from(
    (async function* () {
      for (let at = 0; at < 40; at += 1) {
        if (at === 20) running.signal('versitygw', 'SIGSTOP'); // killed, it could be back before anybody noticed
        yield Buffer.alloc(MIB, at);
      }
    })(),
  );

  const reply = await api.upload('/files', { file, name: 'half.bin' });
  running.signal('versitygw', 'SIGCONT');

  expect(reply).toMatchObject({ status: 503, body: { error: 'unavailable' } });
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  expect(await quotaOf(tenant, user.id)).toBe(6);
  expect((await api.get('/files')).body.data).toHaveLength(1);
  await waitFor('S3 again', async () => (await objectCount(tenant)) === 1);
  expect((await api.upload('/files', { file: Buffer.from('after'), name: 'after' })).status).toBe(201);
});

test('Postgres that restarts in the middle of an upload leaves either the file that was acknowledged, or nothing', async () => {
  const { api, user } = await tenant.user();
  const file = Readable.from(
    (async function* () {
      yield Buffer.alloc(1000);
      await running.kill('postgres', 'SIGINT'); // at once, but with its log written: these stores do not wait for the disk
      yield Buffer.alloc(1000);
    })(),
  );

  const started = performance.now();
  const reply = await api.upload('/files', { file, name: 'late' });

  expect([201, 503]).toContain(reply.status);
  expect(performance.now() - started).toBeLessThan(30_000);
  await waitFor('Postgres again', async () => (await api.get('/files')).status === 200);
  const { data } = (await api.get('/files')).body;
  expect(data).toHaveLength(reply.status === 201 ? 1 : 0);
  expect(await quotaOf(tenant, user.id)).toBe(reply.status === 201 ? 2000 : 0);
  expect((await api.upload('/files', { file: Buffer.from('again'), name: 'again' })).status).toBe(201);
});

test('Postgres that restarts does not end a large upload whose bytes still flow', async () => {
  const { api, user } = await tenant.user();
  const MIB = 1 << 20;
  const file = Readable.from(
    (async function* () {
      for (let at = 0; at < 30; at += 1) {
        if (at === 12) await running.kill('postgres', 'SIGINT');
        // At its end it wants Postgres; what came in between found it away.
        if (at === 29) await waitFor('Postgres again', () => tenant.db.query('SELECT'));
        yield Buffer.alloc(MIB, at);
      }
    })(),
  );

  const reply = await api.upload('/files', { file, name: 'patient' });

  expect(reply).toMatchObject({ status: 201, body: { size: 30 * MIB } });
  expect(await quotaOf(tenant, user.id)).toBe(30 * MIB);
});

test('Redis that is unavailable costs speed, not correctness', async () => {
  const { api } = await tenant.user();
  const { body: file } = await api.upload('/files', { file: Buffer.from('a'), name: 'a' });
  await api.get(`/files/${file.id}`);
  running.signal('valkey', 'SIGSTOP');
  try {
    expect((await api.patch(`/files/${file.id}`, { name: 'b' })).status).toBe(200);
    expect((await api.get(`/files/${file.id}`)).body.name).toBe('b');
  } finally {
    running.signal('valkey', 'SIGCONT');
  }
  const work = await tenant.db.query<{ subjects: string[] }>(
    `SELECT payload->'subjects' AS subjects FROM carrel.work WHERE kind = 'cache.clear'`,
  );
  // A Redis that was slow before may have left others.
  expect(work.map(({ subjects }) => subjects)).toContainEqual([`file:${file.id}`]);
});
