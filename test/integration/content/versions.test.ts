import { describe, expect, test } from '@jest/globals';
import type { ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { startTenant, type TestTenant } from '../../support/programs/server.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { faultsOf } from './tenant-state.ts';

const tenant = serverSuite();

type Person = Awaited<ReturnType<TestTenant['user']>>;

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const codes = (replies: readonly ApiReply[]): unknown[] => replies.map(({ status, body }) => [status, body?.error]);
const write = ({ api }: Person, id: string, content: string, fields: Record<string, string> = {}): Promise<ApiReply> =>
  untilServed(() => api.upload(`/files/${id}`, { method: 'PUT', name: 'a', file: Buffer.from(content), fields }));

/** A file of this person whose versions have these contents. */
async function fileOf(person: Person, ...contents: string[]): Promise<string> {
  const [first = '', ...others] = contents;
  const { body } = await untilServed(() =>
    person.api.upload('/files', { name: `${first} ${Math.random()}.txt`, file: Buffer.from(first) }),
  );
  for (const content of others) await write(person, body.id, content, { comment: `made ${content}` });
  return body.id;
}
const numbers = async ({ api }: Person, id: string): Promise<number[]> =>
  (await api.get(`/files/${id}/versions?limit=200`)).body.data.map(
    ({ version_number: number }: { version_number: number }) => number,
  );
const content = async ({ api }: Person, id: string, number: number): Promise<string> =>
  (await api.get(`/files/${id}/versions/${number}/download`)).bytes.toString();
const used = async ({ api }: Person): Promise<number> => (await api.get('/users/me/usage')).body.storage_used;
/** Keys that wait to be purged and that a version still has. */
const lost = (): Promise<unknown[]> =>
  tenant.db.query(
    `SELECT FROM carrel.work w, jsonb_array_elements_text(w.payload->'keys') AS k (key)
     JOIN file_versions v ON v.blob_name = k.key
     WHERE w.kind = 'objects.purge'`,
  );
const purges = async (): Promise<number> =>
  (
    await tenant.db.query(
      `SELECT FROM carrel.work w, jsonb_array_elements_text(w.payload->'keys') WHERE w.kind = 'objects.purge'`,
    )
  ).length;

describe('versions', () => {
  test('are listed from the newest on, with who made them, for one statement a page', async () => {
    const ada = await tenant.user();
    const id = await fileOf(ada, 'one', 'two!', 'three');
    await ada.api.get(`/files/${id}`);
    const first = await tenant.counting(() => ada.api.get(`/files/${id}/versions?limit=2`));
    const next = first.reply.body.pagination.next_cursor as string;
    const rest = await ada.api.get(`/files/${id}/versions?limit=2&cursor=${next}`);
    const one = await tenant.counting(() => ada.api.get(`/files/${id}/versions/2`));

    expect([first.sql.length, one.sql.length]).toEqual([1, 1]);
    expect(first.reply.body.data).toMatchObject([
      { version_number: 3, current: true, size: 5, comment: 'made three' },
      { version_number: 2, current: false, size: 4, comment: 'made two!' },
    ]);
    expect(rest.body.data).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        file_id: id,
        version_number: 1,
        size: 3,
        checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
        comment: null,
        created_by: { id: ada.user.id, name: ada.user.username },
        created_at: TIME,
        current: false,
      },
    ]);
    expect(one.reply.body).toEqual(first.reply.body.data[1]);
    expect(new Set([...first.reply.body.data, ...rest.body.data].map((version: { id: string }) => version.id)).size).toBe(3);
  });

  test('are downloaded as files are: whole, in part, and not again where the tag is known; by a download link too', async () => {
    const ada = await tenant.user();
    const id = await fileOf(ada, 'first content', 'second');
    const path = `/files/${id}/versions/1/download`;
    const whole = await ada.api.get(path);
    const part = await ada.api.get(path, { headers: { range: 'bytes=6-' } });
    const link = await ada.api.post(`/files/${id}/versions/1/ticket`);
    const byLink = await tenant.anonymous.get(link.body.url, { headers: { range: 'bytes=0-4' } });

    expect([whole.status, whole.bytes.toString(), part.status, part.bytes.toString()]).toEqual([
      200,
      'first content',
      206,
      'content',
    ]);
    expect(part.headers['content-range']).toBe('bytes 6-12/13');
    expect((await ada.api.get(path, { headers: { 'if-none-match': whole.headers.etag ?? '' } })).status).toBe(304);
    expect(codes([await ada.api.get(path, { headers: { range: 'bytes=13-' } })])).toEqual([[416, 'range_not_satisfiable']]);
    expect([link.status, byLink.status, byLink.bytes.toString()]).toEqual([201, 206, 'first']);
    expect((await ada.api.delete(`/files/${id}/versions/1`)).status).toBe(204);
    expect((await tenant.anonymous.get(link.body.url)).status).toBe(404);
  });

  test('restored give a new version without copying bytes, count to the quota, and are heard of', async () => {
    const ada = await tenant.user();
    const id = await fileOf(ada, 'precious', 'worse');
    const etag = (await ada.api.get(`/files/${id}`)).body.etag as string;
    const before = await used(ada);
    const { reply, sql } = await tenant.counting(() =>
      ada.api.post(`/files/${id}/versions/1/restore`, { comment: 'back' }, { headers: { 'if-match': `"${etag}"` } }),
    );
    const again = await ada.api.post(`/files/${id}/versions/3/restore`);
    const blobs = await tenant.db.query<{ blobs: number }>(
      'SELECT count(DISTINCT v.blob_name)::int AS blobs FROM file_versions v JOIN files f ON f.id = v.file_id WHERE f.uuid = $1',
      [id],
    );

    expect([reply.status, sql.length]).toEqual([200, 5]);
    expect(reply.body).toMatchObject({ id, version: 3, size: 8 });
    expect(reply.headers.etag).toBe(`"${reply.body.etag}"`);
    expect((await ada.api.get(`/files/${id}/download`)).bytes.toString()).toBe('precious');
    expect((await ada.api.get(`/files/${id}/versions/3`)).body).toMatchObject({ comment: 'back', current: true });
    expect([await used(ada), blobs]).toEqual([before + 8, [{ blobs: 2 }]]);
    expect([again.status, again.body.version]).toEqual([200, 3]); // the current one: nothing changes
    expect(codes([await ada.api.post(`/files/${id}/versions/1/restore`, {}, { headers: { 'if-match': `"${etag}"` } })])).toEqual([
      [412, 'precondition_failed'],
    ]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('that do not fit into the quota are not restored', async () => {
    const ada = await tenant.user({ storage_quota: 10 });
    const id = await fileOf(ada, 'sixsix', 'two');

    expect(codes([await ada.api.post(`/files/${id}/versions/1/restore`)])).toEqual([[507, 'quota_exceeded']]);
    expect([await numbers(ada, id), await used(ada)]).toEqual([[2, 1], 9]);
  });

  test('deleted free the quota; an object that another version has stays, whichever of the two goes first', async () => {
    const ada = await tenant.user();
    for (const [gone, left] of [
      [1, 3],
      [3, 1],
    ] as const) {
      const id = await fileOf(ada, 'shared', 'other');
      await ada.api.post(`/files/${id}/versions/1/restore`);
      await write(ada, id, 'newest');
      const [bytes, purged] = [await used(ada), await purges()];
      const { reply, sql } = await tenant.counting(() => ada.api.delete(`/files/${id}/versions/${gone}`));

      expect([reply.status, sql.length, await used(ada), await purges()]).toEqual([204, 2, bytes - 6, purged]);
      expect(await content(ada, id, left)).toBe('shared');
      const last = await tenant.counting(() => ada.api.delete(`/files/${id}/versions/${left}`));
      expect([last.reply.status, last.sql.length, await purges()]).toEqual([204, 3, purged + 1]);
      expect(codes([await ada.api.delete(`/files/${id}/versions/${left}`)])).toEqual([[404, 'not_found']]);
      expect((await write(ada, id, 'after')).body.version).toBe(5);
      expect(await numbers(ada, id)).toEqual([5, 4, 2]);
    }
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('the current one is not deleted (409), and a file that goes for ever takes each object once', async () => {
    const ada = await tenant.user();
    const id = await fileOf(ada, 'a', 'b');
    await ada.api.post(`/files/${id}/versions/1/restore`);

    expect(codes([await ada.api.delete(`/files/${id}/versions/3`)])).toEqual([[409, 'conflict']]);
    const purged = await purges();
    await ada.api.delete(`/files/${id}?permanent=true`);
    expect([await purges(), await used(ada)]).toEqual([purged + 2, 0]);
  });

  test('of 50 racing writers and restorers have numbers without gaps; deletions leave no version without object', async () => {
    const ada = await tenant.user();
    const id = await fileOf(ada, 'start', 'second');
    const replies = await Promise.all(
      range(50).map((at) =>
        at % 5 === 0 ? untilServed(() => ada.api.post(`/files/${id}/versions/1/restore`)) : write(ada, id, `content ${at}`),
      ),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 200: 50 });
    expect(replies.map(({ body }) => body.version as number).sort((a, b) => a - b)).toEqual(range(50).map((at) => at + 3));
    expect(await numbers(ada, id)).toEqual(range(52).map((at) => 52 - at));

    const racing = await Promise.all(
      range(50).map((at) =>
        untilServed(() =>
          at % 2 === 0
            ? ada.api.delete(`/files/${id}/versions/${(at % 25) + 1}`)
            : ada.api.post(`/files/${id}/versions/${(at % 25) + 1}/restore`),
        ),
      ),
    );
    expect(racing.every(({ status }) => [200, 204, 404].includes(status))).toBe(true);
    expect([await lost(), await faultsOf(tenant)]).toEqual([[], []]);
  });

  test('are read by readers of the file, restored by writers, deleted by admins, and hidden from all others', async () => {
    const [ada, reader, writer, stranger] = await Promise.all([tenant.user(), tenant.user(), tenant.user(), tenant.user()]);
    const other = await startTenant();
    const id = await fileOf(ada, 'a', 'b', 'c');
    for (const [person, level] of [
      [reader, 'read'],
      [writer, 'write'],
    ] as const)
      await ada.api.post(`/files/${id}/permissions`, { user_id: person.user.id, permission_level: level });
    const attempts = async (api: Person['api']): Promise<number[]> => {
      const base = `/files/${id}/versions`;
      const sent = [
        await api.get(base),
        await api.get(`${base}/1`),
        await api.get(`${base}/1/download`),
        await api.post(`${base}/1/ticket`),
        await api.delete(`${base}/2`),
        await api.post(`${base}/1/restore`),
      ];
      return sent.map(({ status }) => status);
    };

    expect(await attempts(reader.api)).toEqual([200, 200, 200, 201, 403, 403]);
    expect(await attempts(writer.api)).toEqual([200, 200, 200, 201, 403, 200]);
    expect(await attempts(stranger.api)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await attempts(other.admin)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(await attempts(other.admin.as(ada.api.token))).toEqual([401, 401, 401, 401, 401, 401]);
    await other.stop();
    await ada.api.delete(`/files/${id}`);
    expect(await attempts(ada.api)).toEqual([404, 404, 404, 404, 404, 404]);
  });

  test.each(['0', '-1', '1.5', 'x', '2147483648', '01'])('the number %s is a 400', async (number) => {
    const ada = await tenant.user();
    const id = await fileOf(ada, 'a');

    const reply = await ada.api.get(`/files/${id}/versions/${number}`);
    expect([reply.status, reply.body.details[0].field]).toEqual([400, 'number']);
  });
});
