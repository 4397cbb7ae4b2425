import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { faultsOf } from '../content/tenant-state.ts';

/*
 * A member without quota multiplies rows that have no bytes, by copies of folders. So that few are enough, all but 150 of the
 * rows that a person may have are counted to them from the beginning.
 */
const { platform } = workerSuite();
const tenant = platformTenant(platform);

const FREE = 150;
const entriesOf = async (userId: string): Promise<number> =>
  (await tenant.db.query<{ entries: number }>('SELECT entries FROM users WHERE uuid = $1', [userId]))[0]?.entries ?? -1;
const add = (userId: string, entries: number): Promise<unknown> =>
  tenant.db.query('UPDATE users SET entries = entries + $2 WHERE uuid = $1', [userId, entries]);

/** A folder takes the one before and a copy of it, again and again; gives the codes of what ended it. */
async function double(api: Api, first: string): Promise<string[]> {
  let last = first;
  for (const round of range(12)) {
    const { status, body } = await api.post('/folders', { name: `round ${round}` });
    if (status !== 201) return [body.error];
    const { status: accepted, body: job } = await api.post(`/folders/${last}/copy`, { parent_id: body.id, name: 'copy' });
    if (accepted !== 202) return [job.error];
    const end = await waitFor('the end of the copy', async () => {
      const found = (await api.get(`/jobs/${job.id}`)).body;
      return found.ended_at === null ? undefined : found;
    });
    if (end.progress.failed > 0) {
      const { data } = (await api.get(`/jobs/${job.id}/items`, { query: { state: 'failed', limit: 100 } })).body;
      return [...new Set<string>(data.map(({ error }: { error: { code: string } }) => error.code))];
    }
    expect((await api.patch(`/folders/${last}`, { parent_id: body.id })).status).toBe(200);
    last = body.id;
  }
  return [];
}

test.each([
  ['empty folders', async () => undefined],
  [
    'an empty file with tags, a link and a version',
    async (api: Api, folder: string) => {
      const { id } = (await api.upload('/files', { name: 'empty', file: Buffer.alloc(0), fields: { folder_id: folder } })).body;
      for (const name of ['a', 'b', 'c']) await api.put(`/files/${id}/tags/${(await api.post('/tags', { name })).body.id}`);
      await api.post(`/files/${id}/share`, {});
      await api.upload(`/files/${id}`, { method: 'PUT', name: 'empty', file: Buffer.alloc(0) });
    },
  ],
])('a member without quota who doubles %s by copies is refused at as many rows as a person may have', async (_, fill) => {
  const { api, user } = await tenant.user({ storage_quota: 0 });
  const folder = (await api.post('/folders', { name: 'first' })).body.id;
  await fill(api, folder);
  const counted = 500_000 - FREE;
  await add(user.id, counted);

  const refusal = await double(api, folder);
  const entries = await entriesOf(user.id);
  await add(user.id, -counted);

  expect(refusal).toEqual(['quota_exceeded']);
  expect(entries).toBeGreaterThan(500_000 - FREE);
  expect(entries).toBeLessThanOrEqual(500_000);
  expect(await faultsOf(tenant)).toEqual([]);
});
