import { describe, expect, test } from '@jest/globals';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { countBy, range, untilServed } from '../../support/wait.ts';

const tenant = serverSuite();

const person = (name: string): { email: string; username: string; password: string } => ({
  email: `${name}@people.example`,
  username: name,
  password: 'correct horse battery',
});

describe('creating', () => {
  test('gives 201 with the user, its defaults and an entity tag', async () => {
    const reply = await tenant.admin.post('/users', { ...person('ada'), display_name: 'Ada Łącka' });

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'ada@people.example',
      contact_email: null,
      username: 'ada',
      display_name: 'Ada Łącka',
      roles: ['member'],
      tenant_id: tenant.tenantId,
      storage_quota: 10_737_418_240,
      storage_used: 0,
      is_active: true,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      etag: expect.any(String),
    });
    expect(reply.headers.etag).toBe(`"${reply.body.etag}"`);
  });

  test('of 50 racing creations of one e-mail address, in any case of letters, one is a 201 and 49 are 409', async () => {
    const replies = await Promise.all(
      range(50).map((at) =>
        untilServed(() =>
          tenant.admin.post('/users', {
            ...person(`racer-${at}`),
            email: at % 2 === 0 ? 'race@people.example' : 'RACE@people.example',
          }),
        ),
      ),
    );

    expect(countBy(replies, ({ status }) => status)).toEqual({ 201: 1, 409: 49 });
  });

  test('a user name that is taken is a 409 that says so', async () => {
    await tenant.admin.post('/users', person('taken'));
    const reply = await tenant.admin.post('/users', { ...person('other'), username: 'TAKEN' });

    expect([reply.status, reply.body.error]).toEqual([409, 'conflict']);
    expect(reply.body.message).toContain('user name');
  });

  test.each([
    ['email', { email: 'no address' }],
    ['username', { username: 'two words' }],
    ['password', { password: 'short' }],
    ['roles', { roles: [] }],
    ['roles.0', { roles: ['owner'] }],
    ['storage_quota', { storage_quota: -1 }],
    ['storage_quota', { storage_quota: 1.5 }],
    ['display_name', { display_name: 'x'.repeat(256) }],
  ])('a wrong %s is a 400 that names it', async (field, wrong) => {
    const reply = await tenant.admin.post('/users', { ...person('wrong'), ...wrong });

    expect([reply.status, reply.body.details[0].field]).toEqual([400, field]);
  });
});

describe('who may', () => {
  test('a member sees and changes itself only, and only its names', async () => {
    const [{ api, user }, other] = [await tenant.user(), await tenant.user()];

    expect((await api.get('/users')).body.error).toBe('forbidden');
    expect((await api.post('/users', person('x'))).body.error).toBe('forbidden');
    expect((await api.get(`/users/${other.user.id}`)).body.error).toBe('not_found');
    expect((await api.patch(`/users/${other.user.id}`, { display_name: 'x' })).body.error).toBe('not_found');
    expect((await api.delete(`/users/${user.id}`)).body.error).toBe('forbidden');
    expect((await api.patch(`/users/${user.id}`, { roles: ['admin'] })).body.error).toBe('forbidden');
    expect((await api.patch(`/users/${user.id}`, { display_name: 'Me' })).body.display_name).toBe('Me');
  });

  test('no caller sees or changes the system user', async () => {
    const [system] = await tenant.db.query<{ uuid: string }>('SELECT uuid FROM users WHERE is_system');
    const list = await tenant.admin.get('/users', { query: { q: 'system@carrel.invalid' } });

    expect((await tenant.admin.get(`/users/${system?.uuid}`)).status).toBe(404);
    expect((await tenant.admin.delete(`/users/${system?.uuid}`)).status).toBe(404);
    expect(list.body.data).toEqual([]);
  });
});

describe('changing', () => {
  test('PUT and PATCH change what is given and leave the rest; the entity tag changes with each', async () => {
    const { user } = await tenant.user();
    const whole = {
      email: user.email,
      username: user.username,
      display_name: null,
      roles: ['instructor'],
      storage_quota: 5,
      is_active: true,
    };

    const put = await tenant.admin.put(`/users/${user.id}`, whole);
    const patch = await tenant.admin.patch(`/users/${user.id}`, { display_name: 'New' });
    const part = await tenant.admin.put(`/users/${user.id}`, { display_name: 'Newer' });
    const nothing = await tenant.admin.put(`/users/${user.id}`, {});

    expect(put.body).toMatchObject(whole);
    expect(patch.body).toMatchObject({ ...whole, display_name: 'New' });
    expect(new Set([user.etag, put.body.etag, patch.body.etag, part.body.etag]).size).toBe(4);
    expect(part.body).toMatchObject({ ...whole, display_name: 'Newer' });
    expect([nothing.status, nothing.body.details]).toEqual([400, [{ field: 'body', message: 'must name something to change' }]]);
  });

  test('If-Match with an old tag is a 412 and changes nothing; of racing changes with one tag one wins', async () => {
    const { user } = await tenant.user();
    const headers = { 'if-match': `"${user.etag}"` };

    const racing = await Promise.all(
      range(10).map((at) => tenant.admin.patch(`/users/${user.id}`, { display_name: `Name ${at}` }, { headers })),
    );

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 412: 9 });
    expect((await tenant.admin.get(`/users/${user.id}`)).body.display_name).toBe(
      racing.find(({ status }) => status === 200)?.body.display_name,
    );
  });

  test('new roles hold from the next request on, though everything was warm', async () => {
    const { api, user } = await tenant.user();
    const before = await api.get('/users');
    await tenant.admin.patch(`/users/${user.id}`, { roles: ['admin'] });
    const during = await api.get('/users');
    await tenant.admin.patch(`/users/${user.id}`, { roles: ['member'] });
    const after = await api.get('/users');

    expect([before.status, during.status, after.status]).toEqual([403, 200, 403]);
  });

  test('a deactivated user is out at once and does not come back by signing in', async () => {
    const { api, user, password } = await tenant.user();
    await api.get('/users/me');

    await tenant.admin.patch(`/users/${user.id}`, { is_active: false });

    expect((await api.get('/users/me')).status).toBe(401);
    expect((await tenant.anonymous.post('/auth/refresh', { refresh_token: api.refreshToken })).status).toBe(401);
    expect((await tenant.anonymous.post('/auth/login', { email: user.email, password })).status).toBe(401);
  });

  test('a password that everybody tries first is refused wherever one is set, and the one before stays', async () => {
    const { api, user, password } = await tenant.user();

    const refused = [
      await tenant.admin.post('/users', { ...person('common'), password: 'Password1' }),
      await tenant.admin.patch(`/users/${user.id}`, { password: 'trustno1' }),
      await api.post('/users/me/password', { current_password: password, new_password: '1qaz2wsx' }),
    ];

    expect(refused.map(({ status, body }) => [status, body.details])).toEqual(
      ['password', 'password', 'new_password'].map((field) => [
        400,
        [{ field, message: 'must not be one of the 10,000 most common passwords' }],
      ]),
    );
    expect((await tenant.anonymous.post('/auth/login', { email: user.email, password })).status).toBe(200);
  });

  test("changing one's password asks for the present one and ends all other sessions", async () => {
    const { api, user, password } = await tenant.user();
    const elsewhere = await tenant.anonymous.login(user.email, password);

    const wrong = await api.post('/users/me/password', { current_password: 'wrong', new_password: 'something longer' });
    const right = await api.post('/users/me/password', { current_password: password, new_password: 'something longer' });

    expect([wrong.status, wrong.body.error, right.status]).toEqual([401, 'invalid_credentials', 204]);
    expect([(await api.get('/users/me')).status, (await elsewhere.get('/users/me')).status]).toEqual([200, 401]);
    expect((await tenant.anonymous.post('/auth/login', { email: user.email, password: 'something longer' })).status).toBe(200);
  });
});

describe('the last administrator', () => {
  test('can be neither deleted, deactivated nor stripped of the role, also when two resign at once', async () => {
    const first = (await tenant.admin.get('/users/me')).body;
    const { api, user } = await tenant.user({ roles: ['admin'] });

    const racing = await Promise.all([
      tenant.admin.patch(`/users/${first.id}`, { roles: ['member'] }),
      api.patch(`/users/${user.id}`, { roles: ['member'] }),
    ]);
    const left = racing[0]?.status === 409 ? { api: tenant.admin, id: first.id } : { api, id: user.id };

    expect(countBy(racing, ({ status }) => status)).toEqual({ 200: 1, 409: 1 });
    expect((await left.api.delete(`/users/${left.id}`)).status).toBe(409);
    expect((await left.api.patch(`/users/${left.id}`, { is_active: false })).status).toBe(409);
    await left.api.patch(`/users/${first.id}`, { roles: ['admin'] });
  });
});

test('administrators who take the role from each other in a ring do not hold each other up', async () => {
  const ring = await Promise.all(range(6).map(() => tenant.user({ roles: ['admin'] })));

  const replies = await Promise.all(
    ring.map(({ api }, at) => api.patch(`/users/${ring[(at + 1) % ring.length]?.user.id}`, { roles: ['member'] })),
  );

  const lost = new Set(replies.map(({ status }) => status).filter((status) => status !== 200));
  expect([...lost].filter((status) => status !== 404)).toEqual([]); // 404: had lost the role before asking
});

describe('deleting', () => {
  test('a user is gone, with sessions and all', async () => {
    const { api, user } = await tenant.user();

    const gone = await tenant.admin.delete(`/users/${user.id}`);

    expect([gone.status, gone.bytes.length]).toEqual([204, 0]);
    expect([(await api.get('/users/me')).status, (await tenant.admin.get(`/users/${user.id}`)).status]).toEqual([401, 404]);
  });

  test('files go to whom transfer_to names, and with the user when it is left out', async () => {
    const [from, to] = [await tenant.user(), await tenant.user()];
    const file = await from.api.upload('/files', { name: 'kept.txt', file: Buffer.from('kept') });
    const doomed = await to.api.upload('/files', { name: 'doomed.txt', file: Buffer.from('doomed') });

    const handed = await tenant.admin.delete(`/users/${from.user.id}`, { query: { transfer_to: to.user.id } });
    const transferred = await to.api.get(`/files/${file.body.id}`);
    const deleted = await tenant.admin.delete(`/users/${to.user.id}`);

    expect([handed.status, transferred.status, transferred.body.owner.id, deleted.status]).toEqual([204, 200, to.user.id, 204]);
    const rows = await tenant.db.query('SELECT 1 FROM files WHERE uuid = ANY ($1)', [[file.body.id, doomed.body.id]]);
    expect(rows).toEqual([]);
  });

  test('transfer_to an unknown user or the same user is a 400 and deletes nothing', async () => {
    const { user } = await tenant.user();

    for (const newOwner of [user.id, '7b0c6d6e-0000-4000-8000-000000000000'])
      expect((await tenant.admin.delete(`/users/${user.id}`, { query: { transfer_to: newOwner } })).body.details[0].field).toBe(
        'transfer_to',
      );
    expect((await tenant.admin.get(`/users/${user.id}`)).status).toBe(200);
  });
});

describe('the list', () => {
  test('comes in pages that meet without gap or double, in any order, and links to the next', async () => {
    for (const at of range(7)) await tenant.admin.post('/users', { ...person(`page-${at}`), password: undefined });
    for (const sort of ['username', '-username', 'created_at', '-updated_at,email', '-storage_used', 'id']) {
      const seen: string[] = [];
      let url: string | null = `/users?q=page-&limit=3&sort=${sort}`;
      while (url !== null) {
        const reply = await tenant.admin.get(url);
        seen.push(...reply.body.data.map((user: { username: string }) => user.username));
        url = /^<([^>]+)>; rel="next"$/.exec(reply.headers.link ?? '')?.[1] ?? null;
        expect(reply.body.pagination.has_more).toBe(url !== null);
      }
      expect(seen.toSorted()).toEqual(range(7).map((at) => `page-${at}`));
    }
  });

  test('by storage begins with whoever stores most', async () => {
    for (const [at, bytes] of [20, 3_000, 100].entries()) {
      const { api } = await tenant.user({ email: `stores-${at}@example.org` });
      await api.upload('/files', { name: 'a', file: Buffer.alloc(bytes) });
    }

    const { body } = await tenant.admin.get('/users', { query: { q: 'stores-', sort: '-storage_used' } });

    expect(body.data.map((user: { email: string; storage_used: number }) => [user.email, user.storage_used])).toEqual([
      ['stores-1@example.org', 3_000],
      ['stores-2@example.org', 100],
      ['stores-0@example.org', 20],
    ]);
  });

  test.each(['username', '-username'])(
    'by %s comes to its end also with letters that others fold otherwise than Postgres',
    async (sort) => {
      const names = ['ΟΔΟΣ', 'ΟΔΟΣ2', 'İzmir', 'İzmir2', 'ǅ', 'ẞ', 'K'].map((name) => `${name}-of${sort}`);
      for (const [at, username] of names.entries())
        await tenant.admin.post('/users', { ...person(`folded${at}of${sort}`), username });

      const seen: string[] = [];
      let cursor: string | null = '';
      for (const _ of range(names.length + 1)) {
        if (cursor === null) break;
        const query: Record<string, string> = { q: `-of${sort}`, limit: '1', sort, ...(cursor === '' ? {} : { cursor }) };
        const { body } = await tenant.admin.get('/users', { query });
        seen.push(...body.data.map(({ username }: { username: string }) => username));
        cursor = body.pagination.next_cursor;
      }

      expect([seen.toSorted(), cursor]).toEqual([names.toSorted(), null]);
    },
  );

  test('filters by role, state, e-mail address and part of a name', async () => {
    const { user } = await tenant.user({ roles: ['viewer'] });
    const ids = async (query: Record<string, string>): Promise<string[]> =>
      (await tenant.admin.get('/users', { query })).body.data.map(({ id }: { id: string }) => id);

    expect(await ids({ email: user.email.toUpperCase() })).toEqual([user.id]);
    expect(await ids({ role: 'viewer' })).toEqual([user.id]);
    expect(await ids({ role: 'viewer', is_active: 'false' })).toEqual([]);
    expect(await ids({ q: '100%' })).toEqual([]);
  });

  test('is cached per caller, and invalidated by any change of a user', async () => {
    const { user } = await tenant.user();
    const list = () => tenant.counting(() => tenant.admin.get('/users', { query: { email: user.email } }));
    await list();
    const warm = await list();
    await tenant.admin.patch(`/users/${user.id}`, { display_name: 'Changed' });
    const cold = await list();

    expect([warm.sql.length, warm.redisTrips]).toEqual([0, 1]);
    expect([cold.sql.length, cold.reply.body.data[0].display_name]).toEqual([1, 'Changed']);
  });
});

const HIDING = [
  '\u061c',
  '\u200e',
  '\u200f',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u200b',
  '\u00ad',
  '\u2060',
  '\ufeff',
  '\u3164',
  '\u2800',
];

describe('names of people', () => {
  test('hold nothing that turns text round or is not seen, whoever sets them; what a script needs is taken, in NFC', async () => {
    const { api, user } = await tenant.user();
    const path = `/users/${user.id}`;
    const answers: unknown[] = [];
    for (const hidden of HIDING)
      answers.push(
        await api.patch(path, { display_name: `Ada${hidden}Okafor` }),
        await tenant.admin.patch(path, { display_name: `${hidden}Ada` }),
        await tenant.admin.patch(path, { username: `ada${hidden}` }),
        await tenant.admin.post('/users', { ...person('hidden'), display_name: `Ada${hidden}` }),
      );
    const blank = await Promise.all(['\u200d', ' \u200c ', '\ufe0f'].map((display_name) => api.patch(path, { display_name })));
    const persian = await api.patch(path, { display_name: 'می\u200cخواهم 👩\u200d🔬' });
    const composed = await api.patch(path, { display_name: 'Ame\u0301lie' });

    expect(
      (answers as { status: number; body: { details: { field: string }[] } }[]).map(({ status, body }) => [
        status,
        body.details.length,
      ]),
    ).toEqual(answers.map(() => [400, 1]));
    expect(blank.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect([persian.body.display_name, composed.body.display_name]).toEqual(['می\u200cخواهم 👩\u200d🔬', 'Am\u00e9lie']);
  });

  test('that others have cannot be listed by guesses: people without the right get ten answers a day', async () => {
    await tenant.admin.post('/users', person('occupied'));
    const { api, user } = await tenant.user();
    const tried = (
      username: string,
    ): Promise<{ status: number; body: { error: string; retry_after: number; username: string } }> =>
      api.patch(`/users/${user.id}`, { username });
    const own = (await api.get('/users/me')).body.username as string;

    for (let again = 0; again < 12; again += 1) expect((await tried(own)).status).toBe(200);
    const answers = await Promise.all(range(10).map((number) => tried(number % 2 === 0 ? 'occupied' : `free-${number}`)));
    const refused = await Promise.all([
      tried('occupied'),
      tried('free-as-well'),
      api.put(`/users/${user.id}`, { username: 'occupied' }),
    ]);

    expect(countBy(answers, ({ status }) => status)).toEqual({ 200: 5, 409: 5 });
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(refused.map(() => [429, 'rate_limit_exceeded']));
    expect(refused[0]?.body.retry_after).toBeGreaterThan(80_000);
    expect((await api.patch(`/users/${user.id}`, { display_name: 'Ada' })).status).toBe(200);
    expect((await tenant.admin.patch(`/users/${user.id}`, { username: 'named-by-admin' })).status).toBe(200);
  });
});
