import { describe, expect, test } from '@jest/globals';
import { newContentKey } from '../../../pkg/store/s3/content-key.ts';
import { dayOf } from '../../../pkg/store/s3/upload-day.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { untilServed } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { quotaOf } from '../content/tenant-state.ts';
import { scheduleRuns } from './schedule-runs.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);
const { create, nextRun } = scheduleRuns(platform, tenant);

describe('each kind does what it says', () => {
  test('recount_usage counts again what people store', async () => {
    const { user, api } = await tenant.user();
    await untilServed(() => api.upload('/files', { name: 'a', file: Buffer.from('four') }));
    await tenant.db.query(`UPDATE users SET storage_used = 999 WHERE uuid = $1`, [user.id]);

    expect((await nextRun(await create())).result).toEqual({ corrected: 1 });
    expect(await quotaOf(tenant, user.id)).toBe(4);
  });

  test('empty_trash deletes what is past its time in anybody’s trash, and nothing else', async () => {
    const { api } = await tenant.user();
    const upload = async (name: string): Promise<string> =>
      (await untilServed(() => api.upload('/files', { name, file: Buffer.from('x') }))).body.id;
    const [old, fresh] = [await upload('old'), await upload('fresh')];
    for (const id of [old, fresh]) await api.delete(`/files/${id}`);
    await tenant.db.query(`UPDATE files SET expires_at = now() - interval '1 second' WHERE uuid = $1`, [old]);

    expect(await nextRun(await create({ kind: 'empty_trash' }))).toMatchObject({
      kind: 'empty_trash',
      state: 'succeeded',
      result: null,
    });
    expect((await api.get('/trash')).body.data.map(({ id }: { id: string }) => id)).toEqual([fresh]);
  });

  test('sweep_objects deletes objects that no file has, of days whose uploads are over', async () => {
    const { api } = await tenant.user();
    const stored = (await untilServed(() => api.upload('/files', { name: 'kept', file: Buffer.from('x') }))).body.id;
    const today = newContentKey(dayOf(new Date()), systemRandom);
    await tenant.objects.put(today, Buffer.from('about to be named'));

    expect((await nextRun(await create({ kind: 'sweep_objects' }))).result).toEqual({ deleted: 0 });
    expect([await tenant.objects.head(today), (await api.get(`/files/${stored}/download`)).status]).toEqual([
      expect.anything(),
      200,
    ]);
    await tenant.objects.delete([today]);
  });

  test('sweep_uploads deletes uploads that have expired', async () => {
    const { user } = await tenant.user();
    await tenant.db.query(
      `INSERT INTO partial_uploads (uuid, user_id, length, metadata, expires_at)
       SELECT gen_random_uuid(), u.id, 5, 'filename eA==', now() - interval '1 minute' FROM users u, generate_series(1, 25)
       WHERE u.uuid = $1`,
      [user.id],
    );

    expect((await nextRun(await create({ kind: 'sweep_uploads' }))).result).toEqual({ deleted: 25 });
  });

  test('apply_retention deletes the versions that the tenant’s settings do not keep', async () => {
    const { api } = await tenant.user();
    const id = (await untilServed(() => api.upload('/files', { name: 'v', file: Buffer.from('1') }))).body.id;
    for (const text of ['2', '3']) await api.upload(`/files/${id}`, { method: 'PUT', name: 'v', file: Buffer.from(text) });
    const schedule = await create({ kind: 'apply_retention' });
    await tenant.db.query(
      `UPDATE schedules SET settings = jsonb_set(settings, '{versions}', '{"keep": 2, "days": null}') WHERE uuid = $1`,
      [schedule],
    );

    expect((await nextRun(schedule)).result).toEqual({ files: 1 });
    expect((await api.get(`/files/${id}/versions`)).body.data).toHaveLength(2);
  });

  test('verify_checksums reads every version, and finds what has other bytes and what is lost', async () => {
    const { api } = await tenant.user();
    const upload = async (name: string): Promise<string> =>
      (await untilServed(() => api.upload('/files', { name, file: Buffer.from(name) }))).body.id;
    const [right, wrong, lost] = [await upload('right'), await upload('wrong'), await upload('lost')];
    const keyOf = async (id: string): Promise<string> =>
      (await tenant.db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [id]))[0]?.key ?? '';
    await tenant.objects.put(await keyOf(wrong), Buffer.from('gnorw'));
    await tenant.objects.delete([await keyOf(lost)]);
    const { versions, faults } = (await nextRun(await create({ kind: 'verify_checksums' }))).result;

    expect([versions > 2, faults]).toEqual([true, 2]);
    expect((await api.get(`/files/${right}/download`)).status).toBe(200);
  });
});
