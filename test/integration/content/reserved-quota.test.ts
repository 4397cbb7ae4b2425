import { afterEach, describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { RESERVATION_MS } from '../../../pkg/content/blobs/quota-reservation.sql.ts';
import { systemClock } from '../../../pkg/runtime/clock.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import type { Api, ApiReply, Upload } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed, waitFor } from '../../support/wait.ts';
import { filePart, sendForm } from './raw-form.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const tenant = serverSuite({ clock, transfers: { leastBytesPerSecond: 0 } });

let abortUploads: ((error: Error) => void) | undefined;
afterEach(() => abortUploads?.(new Error('the test is over')));

const STEP = 8 << 20;

/** Bytes that uploads under way hold of the tenant's quotas. */
const reserved = async (): Promise<number> => {
  const [row] = await tenant.db.query<{ bytes: number }>(
    'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM storage_reservations',
  );
  return row?.bytes ?? -1;
};

/**
 * Uploads that send `bytes` and then nothing until `goOn` or `breakOff` is called; `outcomes` has the status or error code of
 * each.
 */
function heldOpen(api: Api, count: number, bytes: number, more: Partial<Upload> = {}) {
  const gate = Promise.withResolvers<void>();
  gate.promise.catch(() => undefined);
  abortUploads = gate.reject;
  async function* body(): AsyncGenerator<Buffer> {
    for (let sent = 0; sent < bytes; sent += 500_000) yield Buffer.alloc(Math.min(500_000, bytes - sent), 7);
    await gate.promise;
    yield Buffer.from('the end');
  }
  const outcomes: (string | number)[] = [];
  const upload = async (at: number): Promise<ApiReply> => {
    const reply = await untilServed(() => api.upload('/files', { file: Readable.from(body()), name: `held-${at}`, ...more }));
    outcomes.push(reply.body?.error ?? reply.status);
    return reply;
  };
  const settled = Promise.allSettled(range(count).map(upload));
  return { outcomes, settled, goOn: gate.resolve, breakOff: () => gate.reject(new Error('the client breaks off')) };
}

describe('uploads under way', () => {
  test('hold the quota that they take: of ten of 9.5 MB that stand still, a quota of 10 MB has one', async () => {
    const { api, user } = await tenant.user({ storage_quota: 10_000_000 });

    const held = heldOpen(api, 10, 9_500_000);
    await waitFor('nine refusals while the tenth stands', () => held.outcomes.length === 9);
    expect(countBy(held.outcomes, (code) => code)).toEqual({ quota_exceeded: 9 });
    expect(await reserved()).toBeLessThanOrEqual(10_000_000);
    expect(await quotaOf(tenant, user.id)).toBe(0);

    const beside = await api.upload('/files', { file: Buffer.alloc(1_000_000), name: 'beside' });
    expect(beside).toMatchObject({ status: 507, body: { error: 'quota_exceeded' } });
    held.goOn();
    await held.settled;
    expect(countBy(held.outcomes, (code) => code)).toEqual({ quota_exceeded: 9, 201: 1 });
    expect(await quotaOf(tenant, user.id)).toBe(9_500_007);
    expect(await reserved()).toBe(0);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('hold no more than they say that they are', async () => {
    const { api, user } = await tenant.user({ storage_quota: 19_010_000 });

    const results = await Promise.all(
      // These have a Content-Length, unlike the others.
      range(2).map((at) => untilServed(() => sendForm(api, [filePart(Buffer.alloc(9_500_000), `f${at}`)]))),
    );

    expect(results.map(({ status }) => status)).toEqual([201, 201]);
    expect([await quotaOf(tenant, user.id), await reserved()]).toEqual([19_000_000, 0]);
  });

  test('give it back when they break off', async () => {
    const { api, user } = await tenant.user({ storage_quota: 10_000_000 });
    const held = heldOpen(api, 1, 9_500_000);
    await waitFor('a reservation', async () => (await reserved()) > 0);

    held.breakOff();

    await waitFor('no reservation', async () => (await reserved()) === 0);
    expect((await api.upload('/files', { file: Buffer.alloc(9_900_000), name: 'after' })).status).toBe(201);
    expect(await quotaOf(tenant, user.id)).toBe(9_900_000);
  });

  test('hold the quota of the owner of the file that they replace', async () => {
    const [ada, bob] = [await tenant.user({ storage_quota: 10_000_000 }), await tenant.user()];
    const folder = (await ada.api.post('/folders', { name: 'shared' })).body;
    await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'write', user_id: bob.user.id });
    await ada.api.upload('/files', { file: Buffer.from('old'), name: 'a', fields: { folder_id: folder.id } });

    const held = heldOpen(bob.api, 2, 9_500_000, { name: 'a', fields: { folder_id: folder.id, on_conflict: 'replace' } });
    await waitFor('a refusal while the other stands', () => held.outcomes.length === 1);
    held.goOn();
    await held.settled;

    expect(countBy(held.outcomes, (code) => code)).toEqual({ quota_exceeded: 1, 200: 1 });
    expect([await quotaOf(tenant, ada.user.id), await quotaOf(tenant, bob.user.id), await reserved()]).toEqual([9_500_010, 0, 0]);
  });

  test('cost one statement a step beyond the first, and none below it', async () => {
    const { api } = await tenant.user();
    await api.upload('/files', { file: Buffer.from('warm'), name: 'warm' });
    const statements = async (bytes: number): Promise<number> => {
      const upload = (): Promise<ApiReply> =>
        untilServed(() => api.upload('/files', { file: Buffer.alloc(bytes), name: systemRandom.uuid() }));
      const { reply, sql } = await tenant.counting(upload);
      expect(reply.status).toBe(201);
      return sql.length;
    };

    expect([await statements(STEP), await statements(STEP + 1), await statements(3 * STEP)]).toEqual([2, 5, 6]);
  });
});

test('an upload that waits at its end while another reserves is refused, and the one that reserved is not', async () => {
  const { api, user } = await tenant.user({ storage_quota: 100 });
  const reservation = systemRandom.uuid();
  const waiting = (): Promise<unknown[]> =>
    tenant.db.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO files%'`);

  const late = await tenant.db.transaction(async (tx) => {
    const [row] = await tx.query<{ held: number }>(
      `SELECT carrel.reserve_storage($1, id, 90, 90, $2, $3) AS held FROM users WHERE uuid = $4`,
      [reservation, clock.now(), new Date(clock.now().getTime() + RESERVATION_MS), user.id],
    );
    expect(row?.held).toBe(90);
    const reply = api.upload('/files', { file: Buffer.alloc(60), name: 'late' });
    await waitFor('the upload to wait for the lock', async () => (await waiting()).length === 1);
    return { reply };
  });

  expect(await late.reply).toMatchObject({ status: 507, body: { error: 'quota_exceeded' } });
  const [counted] = await tenant.db.query<{ ok: boolean }>(
    'SELECT carrel.count_storage($1, id, 90, $2) AS ok FROM users WHERE uuid = $3',
    [reservation, clock.now(), user.id],
  );
  expect(counted?.ok).toBe(true);
  await tenant.db.query('UPDATE users SET storage_used = 0 WHERE uuid = $1', [user.id]);
});

describe('what a server held that died', () => {
  test('counts until it expires, and is cleared by the next that reserves', async () => {
    const { api, user } = await tenant.user({ storage_quota: 20_000_000 });
    await tenant.db.query(
      `INSERT INTO storage_reservations (id, user_id, bytes, expires_at) SELECT $1, id, 15000000, $2 FROM users WHERE uuid = $3`,
      [systemRandom.uuid(), new Date(clock.now().getTime() + RESERVATION_MS), user.id],
    );
    const upload = (name: string): Promise<ApiReply> =>
      untilServed(() => api.upload('/files', { file: Buffer.alloc(9_000_000), name }));

    expect((await upload('early')).body).toMatchObject({ error: 'quota_exceeded' });
    expect((await api.upload('/files', { file: Buffer.alloc(6_000_000), name: 'small' })).body).toMatchObject({
      error: 'quota_exceeded',
    });

    aheadMs += RESERVATION_MS + 1000;
    expect((await upload('late')).status).toBe(201);
    expect([await quotaOf(tenant, user.id), await reserved()]).toEqual([9_000_000, 0]);
  });
});

test('racing uploads of any size never pass the quota, and leave nothing reserved', async () => {
  const { api, user } = await tenant.user({ storage_quota: 60_000_000 });
  const sizes = range(16).map((at) => (at % 2 === 0 ? 9_000_000 : 3_000_000));

  const results = await Promise.all(
    sizes.map((size, at) => untilServed(() => api.upload('/files', { file: Buffer.alloc(size, at), name: `race-${at}` }))),
  );

  const stored = results.reduce((sum, { status }, at) => sum + (status === 201 ? (sizes[at] ?? 0) : 0), 0);
  expect(new Set(results.map(({ body, status }) => body.error ?? status))).toEqual(new Set([201, 'quota_exceeded']));
  expect(await quotaOf(tenant, user.id)).toBe(stored);
  expect(stored).toBeLessThanOrEqual(60_000_000);
  expect(await reserved()).toBe(0);
});
