import { describe, expect, test } from '@jest/globals';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { begin, named, TUS } from '../../support/clients/tus.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';
import { faultsOf, quotaOf } from './tenant-state.ts';

const tenant = serverSuite();

const KIB = 1024;
const upload = async (api: Api, name: string, bytes = 0): Promise<string> =>
  (await api.upload('/files', { name, file: Buffer.alloc(bytes) })).body.id;
const put = (api: Api, file: string, key: string, value: string): Promise<ApiReply> =>
  untilServed(() => api.put(`/files/${file}/metadata/${key}`, { value }));
const refusal = ({ status, body }: ApiReply): unknown => [status, body?.error];
const FULL = [507, 'quota_exceeded'];

describe('metadata', () => {
  test('count to the quota in whole KiB, with each change of them', async () => {
    const { api, user } = await tenant.user({ storage_quota: 10 * KIB });
    const file = await upload(api, 'a', 100);
    const used: number[] = [];
    const note = async (reply: Promise<ApiReply>): Promise<number> => {
      const { status } = await reply;
      used.push((await quotaOf(tenant, user.id)) - 100);
      return status;
    };

    const statuses = [
      await note(put(api, file, 'one', '')),
      await note(put(api, file, 'one', 'x'.repeat(KIB))),
      await note(put(api, file, 'two', 'x'.repeat(6 * KIB))),
      await note(put(api, file, 'three', 'x')),
      await note(put(api, file, 'two', 'x')),
      await note(put(api, file, 'three', 'x')),
      await note(api.delete(`/files/${file}/metadata/two`)),
    ];

    expect(statuses).toEqual([201, 200, 201, 507, 200, 201, 204]);
    expect(used).toEqual([1, 2, 9, 9, 3, 4, 3].map((kib) => kib * KIB));
    expect((await api.get('/users/me/usage')).body).toMatchObject({ storage_used: 3 * KIB + 100, metadata_bytes: 3 * KIB });
    expect((await api.get(`/users/${user.id}`)).body.storage_used).toBe(3 * KIB + 100);
  });

  test('are 64 KiB a value at most, in UTF-8, and 256 KiB of values a file', async () => {
    const { api } = await tenant.user();
    const file = await upload(api, 'full');
    const whole = 'é'.repeat(32_768);
    const replies: ApiReply[] = [];
    for (const at of range(5)) replies.push(await put(api, file, `k${at}`, whole));
    replies.push(await put(api, file, 'k0', `${whole}e`), await put(api, file, 'k0', whole.slice(1)));
    replies.push(await put(api, file, 'k4', 'two'), await put(api, file, 'k4', ''));

    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 409, 400, 200, 409, 201]);
    expect(replies[4]?.body.error).toBe('conflict');
  });

  test('of racing writers never pass the quota', async () => {
    const { api, user } = await tenant.user({ storage_quota: 10 * KIB });
    const files = await Promise.all(range(5).map((at) => upload(api, `raced ${at}`)));

    const replies = await Promise.all(range(30).map((at) => put(api, files[at % 5] ?? '', `k${at}`, 'v')));

    expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 10, 507: 20 });
    expect(await quotaOf(tenant, user.id)).toBe(10 * KIB);
  });

  test('are none of a member without quota, and copies of a file take what they have', async () => {
    const [none, some] = [await tenant.user({ storage_quota: 0 }), await tenant.user({ storage_quota: 3 * KIB })];
    const file = await upload(some.api, 'a');
    await put(some.api, file, 'k', 'x'.repeat(KIB));

    const replies = [
      await put(none.api, await upload(none.api, 'empty'), 'k', 'v'),
      await some.api.post(`/files/${file}/copy`, { name: 'b' }),
      await put(some.api, file, 'another', 'x'),
    ];

    expect(replies.map(refusal)).toEqual([FULL, FULL, [201, undefined]]);
    expect([await quotaOf(tenant, none.user.id), await quotaOf(tenant, some.user.id)]).toEqual([0, 3 * KIB]);
  });

  test('count no more when their file goes for ever, alone or with its folder, and count for whom it is given to', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const folder = (await ada.api.post('/folders', { name: 'with' })).body.id;
    const inside = (await ada.api.upload('/files', { name: 'in', file: Buffer.from('1'), fields: { folder_id: folder } })).body
      .id;
    const [alone, given] = [await upload(ada.api, 'alone'), await upload(ada.api, 'given', 7)];
    for (const id of [inside, alone, given]) await put(ada.api, id, 'k', 'v');

    await ada.api.delete(`/files/${alone}`, { query: { permanent: true } });
    await ada.api.delete(`/folders/${folder}`, { query: { permanent: true } });
    const left = await quotaOf(tenant, ada.user.id);
    await tenant.admin.delete(`/users/${ada.user.id}`, { query: { transfer_to: bob.user.id } });

    expect([left, await quotaOf(tenant, bob.user.id)]).toEqual([KIB + 7, KIB + 7]);
  });
});

const entriesOf = async (userId: string): Promise<number> => {
  const [row] = await tenant.db.query<{ entries: number }>('SELECT entries FROM users WHERE uuid = $1', [userId]);
  return row?.entries ?? -1;
};
const replace = (api: Api, file: string): Promise<ApiReply> =>
  api.upload(`/files/${file}`, { method: 'PUT', name: 'x', file: Buffer.from('new') });

describe('share links, tags, tagged files and versions after the first', () => {
  test('count with each change of them, on every way on which they go', async () => {
    const [{ api, user }, bob] = [await tenant.user(), await tenant.user()];
    const counts: number[] = [];
    const note = async (...replies: Promise<ApiReply>[]): Promise<void> => {
      expect((await Promise.all(replies)).filter(({ status }) => status >= 300).map(({ body }) => body)).toEqual([]);
      counts.push(await entriesOf(user.id));
    };
    const folder = (await api.post('/folders', { name: 'f' })).body.id;
    const file = (await api.upload('/files', { name: 'a', file: Buffer.from('1'), fields: { folder_id: folder } })).body.id;
    const tags = await Promise.all(range(3).map(async (at) => (await api.post('/tags', { name: `t${at}` })).body.id as string));
    await note();

    await note(api.post(`/files/${file}/share`, {}), api.post(`/files/${file}/share`, {}));
    await note(...tags.map((tag) => api.put(`/files/${file}/tags/${tag}`)));
    await note(api.put(`/files/${file}/tags/${tags[0]}`));
    await note(replace(api, file));
    await note(api.post(`/files/${file}/versions/1/restore`));
    await note(api.post(`/files/${file}/copy`, { name: 'b' }));
    await note(api.delete(`/files/${file}/versions/2`));
    await note(api.delete(`/files/${file}/versions/1`));
    await note(api.delete(`/files/${file}/tags/${tags[0]}`));
    await note(api.delete(`/tags/${tags[1]}`));
    const { data } = (await api.get(`/files/${file}/shares`)).body;
    await note(api.delete(`/shares/${data[0].id}`));
    await api.post(`/folders/${folder}/permissions`, { user_id: bob.user.id, permission_level: 'read' });
    const his = (await bob.api.post('/tags', { name: 'his' })).body.id;
    await bob.api.put(`/files/${file}/tags/${his}`);
    const ofBob = await entriesOf(bob.user.id);
    await note(api.delete(`/folders/${folder}`, { query: { permanent: true } }));

    expect(counts).toEqual([5, 7, 10, 10, 11, 12, 16, 15, 15, 14, 11, 10, 2]);
    expect([ofBob, await entriesOf(bob.user.id)]).toEqual([2, 1]);
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('of a member without quota are 500,000 at most together with files and folders, however many requests race', async () => {
    const { api, user } = await tenant.user({ storage_quota: 0 });
    const file = await upload(api, 'empty');
    const tag = (await api.post('/tags', { name: 'first' })).body.id;
    await api.put(`/files/${file}/tags/${tag}`);
    const before = await entriesOf(user.id);
    await tenant.db.query('UPDATE users SET entries = 499998 WHERE uuid = $1', [user.id]);

    const replies = await Promise.all(
      range(12).map((at) =>
        untilServed(async () => {
          if (at % 3 === 0) return api.post(`/files/${file}/share`, {});
          if (at % 3 === 1) return api.post('/tags', { name: `tag ${at}` });
          return api.upload(`/files/${file}`, { method: 'PUT', name: 'x', file: Buffer.alloc(0) });
        }),
      ),
    );
    const others = [
      await api.post(`/files/${file}/copy`, { name: 'b' }),
      await api.post(`/files/${file}/versions/1/restore`),
      await api.put(`/files/${await upload((await tenant.user()).api, 'x')}/tags/${tag}`),
    ];
    const full = await entriesOf(user.id);
    await tenant.db.query('UPDATE users SET entries = entries - 499998 + $2 WHERE uuid = $1', [user.id, before]);

    const made = replies.filter(({ status }) => status < 300).length;
    expect([made, full]).toEqual([2, 500_000]);
    expect(replies.filter(({ status }) => status >= 300).map(refusal)).toEqual(range(10).map(() => FULL));
    expect(others.map(({ status }) => status)).toEqual([507, 200, 404]);
    expect(replies.find(({ status }) => status === 507)?.body.message).toContain(
      'what belongs to them (older versions, share links, tags)',
    );
    expect(await faultsOf(tenant)).toEqual([]);
  });

  test('pass on with the files of a user who is deleted', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const file = await upload(ada.api, 'given', 7);
    const tag = (await ada.api.post('/tags', { name: 'mine' })).body.id;
    await ada.api.put(`/files/${file}/tags/${tag}`);
    await ada.api.post(`/files/${file}/share`, {});
    await replace(ada.api, file);

    await tenant.admin.delete(`/users/${ada.user.id}`, { query: { transfer_to: bob.user.id } });

    expect(await entriesOf(bob.user.id)).toBe(5);
    expect(await faultsOf(tenant)).toEqual([]);
  });
});

/** Writes the limits as the operator does for spec.limits. */
const limit = (storage: number | null, files: number | null): Promise<unknown> =>
  tenant.rows.pool.query('UPDATE carrel.tenants SET storage_limit = $2, files_limit = $3 WHERE role = $1', [
    `tenant_${tenant.slug}`,
    storage,
    files,
  ]);
const total = async (): Promise<{ bytes: number; entries: number }> => {
  const [row] = await tenant.db.query<{ bytes: number; entries: number }>(
    'SELECT sum(storage_used)::bigint AS bytes, sum(entries)::bigint AS entries FROM users',
  );
  return row ?? { bytes: -1, entries: -1 };
};

describe('files and folders of a person', () => {
  test('are 500,000 at most, and the refusal says what to do', async () => {
    const { api, user } = await tenant.user();
    const folder = (await api.post('/folders', { name: 'first' })).body.id;
    const set = (entries: number) => tenant.db.query('UPDATE users SET entries = $2 WHERE uuid = $1', [user.id, entries]);
    await set(499_998);

    const replies = [
      await api.post('/folders', { name: 'second', parent_id: folder }),
      await api.upload('/files', { name: 'last', file: Buffer.from('x') }),
      await api.upload('/files', { name: 'too many', file: Buffer.from('x') }),
      await api.post('/folders', { name: 'too many' }),
      await begin(api, named('too many', 1), Buffer.from('x')),
    ];
    await api.delete(`/folders/${folder}`, { query: { permanent: true } });
    const after = await api.post('/folders', { name: 'again' });
    await set(2);

    expect(replies.map(refusal)).toEqual([[201, undefined], [201, undefined], FULL, FULL, FULL]);
    expect(replies[3]?.body.message).toContain(
      '500000 files, folders and what belongs to them (older versions, share links, tags). Delete some for ever',
    );
    expect(after.status).toBe(201);
  });
});

describe('a tenant with limits', () => {
  test('stores no more bytes than they allow, whoever sends them and in whatever way', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const file = await upload(ada.api, 'there', 600);
    await limit((await total()).bytes + 2_000, null);

    const reserved = await begin(bob.api, named('reserved', 1_000));
    const replies = [
      await ada.api.upload('/files', { name: 'fits', file: Buffer.alloc(900) }),
      await bob.api.upload('/files', { name: 'too large', file: Buffer.alloc(1_200) }),
      await untilServed(() => bob.api.upload('/files', { name: 'reserved', file: Buffer.alloc(9 << 20) })),
      await begin(bob.api, named('more', 200)),
      await ada.api.upload('/files', { name: 'what is reserved', file: Buffer.alloc(200) }),
      await bob.api.delete(`/files/uploads/${reserved.body.id}`, { headers: TUS }),
      await begin(bob.api, named('fits', 100)),
      await ada.api.upload(`/files/${file}`, { method: 'PUT', name: 'x', file: Buffer.alloc(1_200) }),
      await ada.api.post(`/files/${file}/copy`, { name: 'fits too' }),
      await put(ada.api, file, 'k', 'v'),
    ];
    await limit(0, null);
    const statements = tenant.observed.sql.length;
    const refused = await bob.api.upload('/files', { name: 'one byte', file: Buffer.alloc(1) });
    const before = tenant.observed.sql.slice(statements);
    const freed = await ada.api.delete(`/files/${file}`, { query: { permanent: true } });
    await limit(null, null);

    expect(replies.map(refusal)).toEqual([
      [201, undefined],
      FULL,
      FULL,
      FULL,
      FULL,
      [204, undefined],
      [201, undefined],
      FULL,
      [201, undefined],
      FULL,
    ]);
    expect([refusal(refused), freed.status]).toEqual([FULL, 204]);
    expect(refused.body.message).toContain('This institution may not store as much more');
    expect(before.filter((sql) => sql.includes('store_files'))).toEqual([]); // before anything is stored
    expect((await bob.api.upload('/files', { name: 'again', file: Buffer.alloc(1) })).status).toBe(201);
  });

  test('has no more files and folders than they allow', async () => {
    const { api } = await tenant.user();
    await limit(null, (await total()).entries + 2);

    const replies = [
      await api.upload('/files', { name: 'one', file: Buffer.from('x') }),
      await api.post('/folders', { name: 'two' }),
      await api.post('/folders', { name: 'three' }),
      await api.upload('/files', { name: 'three', file: Buffer.from('x') }),
    ];
    await limit(null, null);

    expect(replies.map(refusal)).toEqual([[201, undefined], [201, undefined], FULL, FULL]);
    expect(replies[3]?.body.message).toContain('as many as it may have');
  });
});

test('the counts equal what exists', async () => {
  expect(await faultsOf(tenant)).toEqual([]);
});
