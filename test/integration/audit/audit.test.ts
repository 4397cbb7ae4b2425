import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../pkg/audit/audit.schema.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { Api, ApiReply } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { range, untilServed } from '../../support/wait.ts';

const tenant = serverSuite({ trustedProxies: 1 });

/** The table by the name that the operator gave it. */
const AUDIT = (): string => `"${tenantRole(tenant.slug)}".audit_entries`;
const ADDRESS = '203.0.113.9';
/** Headers of a proxy that names the client's address, with an id of the request. */
const traced = (id: string): { headers: Record<string, string> } => ({
  headers: { 'x-request-id': id, 'x-forwarded-for': ADDRESS },
});
const entries = async (query: Record<string, string | number>): Promise<AuditEntry[]> =>
  (await tenant.admin.get('/audit', { query })).body.data;
const actionsOf = async (id: string): Promise<string[]> =>
  (await entries({ target_id: id, sort: 'at' })).map(({ action }) => action);
const upload = async (api: Api, name: string): Promise<string> =>
  (await untilServed(() => api.upload('/files', { name, file: Buffer.from(name) }))).body.id;

test('an entry says who did what to what, from where, by which request, and what is new', async () => {
  const ada = await tenant.user();
  const id = await upload(ada.api, 'thesis.pdf');
  const changed = await ada.api.patch(`/files/${id}`, { name: 'thesis-2.pdf' }, traced('a-request-of-ada'));

  expect(changed.status).toBe(200);
  const [entry] = await entries({ target_id: id });
  expect(entry).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.stringMatching(/Z$/),
    actor: { id: ada.user.id, name: ada.user.username },
    action: 'file.update',
    target: { type: 'file', id, name: 'thesis-2.pdf' },
    ip: ADDRESS,
    request_id: 'a-request-of-ada',
    changes: { name: { from: 'thesis.pdf', to: 'thesis-2.pdf' }, path: { from: '/thesis.pdf', to: '/thesis-2.pdf' } },
  });
});

describe('written down is', () => {
  test('what happens to a file and its versions', async () => {
    const { api } = await tenant.user();
    const id = await upload(api, 'a.txt');
    await api.upload(`/files/${id}`, { method: 'PUT', name: 'a.txt', file: Buffer.from('second') });
    await api.delete(`/files/${id}/versions/1`);
    await api.delete(`/files/${id}`);
    await api.post(`/files/${id}/restore`);
    await api.delete(`/files/${id}`, { query: { permanent: true } });

    expect(await actionsOf(id)).toEqual([
      'file.upload',
      'file.upload',
      'version.delete',
      'file.delete',
      'file.restore',
      'file.purge',
    ]);
  });

  test('what happens to a folder and to each file below it; a path that changes with a folder above is no entry', async () => {
    const { api } = await tenant.user();
    const [outer, inner] = [
      (await api.post('/folders', { name: 'Outer' })).body.id,
      (await api.post('/folders', { name: 'In' })).body.id,
    ];
    await api.patch(`/folders/${inner}`, { parent_id: outer });
    const id = (
      await untilServed(() => api.upload('/files', { name: 'b.txt', file: Buffer.from('b'), fields: { folder_id: inner } }))
    ).body.id;
    await api.patch(`/folders/${outer}`, { name: 'Other' });
    await api.delete(`/folders/${outer}`);
    await api.post(`/folders/${outer}/restore`);
    await api.delete(`/folders/${outer}`, { query: { permanent: true } });

    const gone = ['delete', 'restore', 'purge'];
    expect(await actionsOf(outer)).toEqual(['folder.create', 'folder.update', ...gone.map((verb) => `folder.${verb}`)]);
    expect(await actionsOf(inner)).toEqual(['folder.create', 'folder.update', ...gone.map((verb) => `folder.${verb}`)]);
    expect(await actionsOf(id)).toEqual(['file.upload', ...gone.map((verb) => `file.${verb}`)]);
  });

  test('a grant and a share link, with who got what; a download by anybody, with their address', async () => {
    const [ada, bob] = [await tenant.user(), await tenant.user()];
    const file = await upload(ada.api, 'shared.txt');
    const grant = (await ada.api.post(`/files/${file}/permissions`, { permission_level: 'read', user_id: bob.user.id })).body.id;
    await ada.api.patch(`/files/${file}/permissions/${grant}`, { permission_level: 'write' });
    await ada.api.delete(`/files/${file}/permissions/${grant}`);
    const share = (await ada.api.post(`/files/${file}/share`, { password: 'correct horse' })).body;
    const headers = { 'x-share-password': 'correct horse', ...traced('a-download').headers };
    expect((await tenant.anonymous.get(`/s/${share.token}/download`, { headers })).status).toBe(200);
    await ada.api.delete(`/shares/${share.id}`);

    const [created, updated, deleted] = await entries({ target_id: grant, sort: 'at' });
    expect([created?.action, updated?.action, deleted?.action]).toEqual(['grant.create', 'grant.update', 'grant.delete']);
    expect(created?.changes).toMatchObject({ resource_id: { from: null, to: file }, user_id: { from: null, to: bob.user.id } });
    expect(updated?.changes).toEqual({ permission_level: { from: 'read', to: 'write' } });
    expect(deleted?.changes).toMatchObject({
      user_id: { from: bob.user.id, to: null },
      permission_level: { from: 'write', to: null },
    });
    expect(await actionsOf(share.id)).toEqual(['share.create', 'share.download', 'share.delete']);
    const [download] = await entries({ action: 'share.download', target_id: share.id });
    expect(download).toMatchObject({ actor: null, ip: ADDRESS, request_id: 'a-download', target: { name: 'shared.txt' } });
  });

  test('what happens to users, groups and webhooks', async () => {
    const { api, user } = await tenant.user();
    await tenant.admin.patch(`/users/${user.id}`, { display_name: 'Ada' });
    await tenant.admin.post(`/users/${user.id}/password-reset`);
    await api.post('/users/me/password', { current_password: 'wrong', new_password: 'correct horse battery' });
    const group = (await tenant.admin.post('/groups', { name: `Group of ${user.id}` })).body.id;
    await tenant.admin.put(`/groups/${group}/members/${user.id}`);
    await tenant.admin.delete(`/groups/${group}/members/${user.id}`);
    await tenant.admin.patch(`/groups/${group}`, { description: 'new' });
    await tenant.admin.delete(`/groups/${group}`);
    const hook = (await tenant.admin.post('/webhooks', { url: 'https://receiver.example.org/', events: ['file.created'] })).body
      .id;
    await tenant.admin.patch(`/webhooks/${hook}`, { active: false });
    await tenant.admin.delete(`/webhooks/${hook}`);
    expect((await tenant.admin.delete(`/users/${user.id}`)).status).toBe(204);

    expect(await actionsOf(user.id)).toEqual(['user.create', 'user.update', 'user.password_reset', 'user.delete']);
    expect(await actionsOf(group)).toEqual([
      'group.create',
      'group.add_member',
      'group.remove_member',
      'group.update',
      'group.delete',
    ]);
    expect(await actionsOf(hook)).toEqual(['webhook.create', 'webhook.update', 'webhook.delete']);
    expect((await entries({ target_id: group, action: 'group.add_member' }))[0]?.changes).toEqual({
      user_id: { from: null, to: user.id },
    });
  });

  test('a sign-in, a refused one and a sign-out; of an account that does not exist nothing that was typed', async () => {
    const { api, user } = await tenant.user();
    await api.post('/auth/logout');
    const wrong = await tenant.anonymous.post(
      '/auth/login',
      { email: user.email, password: 'wrong-password' },
      traced('a-wrong-one'),
    );
    await tenant.anonymous.post('/auth/login', { email: 'typed-a-secret@example.org', password: 'x' }, traced('of-nobody'));

    expect(wrong.status).toBe(401);
    const [ended, created] = await entries({ actor: user.id, target_type: 'session' });
    expect([created?.action, ended?.action, ended?.target.id]).toEqual(['session.create', 'session.end', created?.target.id]);
    const [nobody, refused] = await entries({ action: 'session.fail' });
    expect(refused).toMatchObject({ actor: null, target: { type: 'user', id: user.id }, ip: ADDRESS, request_id: 'a-wrong-one' });
    expect(nobody).toMatchObject({
      actor: null,
      target: { type: 'user', id: null, name: null },
      ip: ADDRESS,
      request_id: 'of-nobody',
    });
  });

  test('a job, with its requester', async () => {
    const { api, user } = await tenant.user();
    const job = (await api.delete('/trash')).body;
    const [run] = await entries({ target_id: job.id });
    expect(run).toMatchObject({ action: 'job.run', actor: { id: user.id }, target: { type: 'job', name: 'empty_trash' } });
  });

  test('each of fifty uploads at once by its own request, though statements store several', async () => {
    const people = [await tenant.user(), await tenant.user()];
    const uploads = await Promise.all(
      range(50).map((at) =>
        untilServed(() =>
          people[at % 2]!.api.upload('/files', {
            name: `${at}.txt`,
            file: Buffer.from('x'),
            ...traced(`upload-${at}-${people[0]!.user.id}`),
          }),
        ),
      ),
    );
    const written = await Promise.all(uploads.map(async ({ body }) => (await entries({ target_id: body.id }))[0]));

    expect(written.map((entry) => [entry?.actor, entry?.request_id])).toEqual(
      range(50).map((at) => [
        { id: people[at % 2]!.user.id, name: people[at % 2]!.user.username },
        `upload-${at}-${people[0]!.user.id}`,
      ]),
    );
  });

  test('nothing of a change that is refused, and no second entry for what is as it was', async () => {
    const { api, user } = await tenant.user();
    const id = await upload(api, 'same.txt');
    await upload(api, 'other.txt');
    const before = await entries({ actor: user.id });
    expect((await api.patch(`/files/${id}`, { name: 'other.txt' })).status).toBe(409);
    expect((await api.patch(`/files/${id}`, { name: 'same.txt' })).status).toBe(200);

    expect(await entries({ actor: user.id })).toEqual(before);
  });

  test("a change that no request makes, as the system's", async () => {
    const { api } = await tenant.user();
    const id = await upload(api, 'system.txt');
    await tenant.db.query('UPDATE files SET deleted_at = now() WHERE uuid = $1', [id]);

    expect((await entries({ target_id: id }))[0]).toMatchObject({
      action: 'file.delete',
      actor: { system: true },
      ip: null,
      request_id: null,
    });
  });
});

test('no entry holds a password, a token, a secret, or a hash of one', async () => {
  const { api, user, password } = await tenant.user({ password: 'pass-word-of-ada' });
  const reset = (await tenant.admin.post(`/users/${user.id}/password-reset`)).body.token as string;
  const file = await upload(api, 'secret.txt');
  const share = (await api.post(`/files/${file}/share`, { password: 'share-password' })).body;
  const hook = { url: 'https://receiver.example.org/', events: ['file.created'], headers: { 'x-key': 'header-secret' } };
  const made = (await tenant.admin.post('/webhooks', { ...hook, secret: 'webhook-secret-of-forty-characters-and-more' })).body;
  await tenant.admin.patch(`/webhooks/${made.id}`, { headers: { 'x-key': 'header-secret-2' } });
  await api.post('/users/me/password', { current_password: password, new_password: 'pass-word-of-ada-2' });

  const all = JSON.stringify(await tenant.db.query('SELECT * FROM audit_entries'));
  const hashes = (
    await tenant.db.query<{ hash: string }>(
      `SELECT password_hash AS hash FROM users WHERE password_hash IS NOT NULL UNION ALL SELECT password_hash FROM shares
       WHERE password_hash IS NOT NULL
     UNION ALL SELECT secret FROM webhooks UNION ALL SELECT headers FROM webhooks WHERE headers IS NOT NULL`,
    )
  ).map(({ hash }) => hash);
  const secrets = [password, 'pass-word-of-ada-2', reset, share.token, 'share-password', 'header-secret', 'webhook-secret'];
  const digests = secrets.map((secret) => createHash('sha256').update(secret).digest('hex'));
  expect([...secrets, ...digests, ...hashes].filter((text) => all.includes(text))).toEqual([]);
  expect(hashes.length).toBeGreaterThan(3);
  expect((await entries({ target_id: made.id, action: 'webhook.update' }))[0]?.changes).toEqual({
    headers: { from: null, to: null },
  });
});

describe("the tenant's own role", () => {
  test.each([
    ['insert', `INSERT INTO audit_entries (is_system, action, target_type, changes) VALUES (true, 'file.upload', 'file', '{}')`],
    ['change', `UPDATE audit_entries SET action = 'file.upload'`],
    ['delete', 'DELETE FROM audit_entries'],
    ['truncate', 'TRUNCATE audit_entries'],
    ['drop', 'DROP TABLE audit_entries'],
    ['forge', `SELECT carrel.write_audit('file.upload', 'file', NULL, NULL, '{}')`],
    ['switch off', 'ALTER TABLE files DISABLE TRIGGER audit_update'],
    [
      'replace',
      'CREATE OR REPLACE FUNCTION carrel.audit_files() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
    ],
    ['skip', `SET session_replication_role = 'replica'`],
  ])('cannot %s entries or their triggers', async (_what, sql) => {
    await expect(tenant.db.query(sql)).rejects.toThrow(/permission denied|must be owner/);
  });

  test('replaces the log by no temporary table, and runs none of its code as the schema’s owner, even where it may', async () => {
    const { api } = await tenant.user();
    const shadowed = await upload(api, 'shadowed.txt');
    const role = `"${tenantRole(tenant.slug)}"`;
    // A session that may create them does it, so that no rights of the database, which all tests share, change.
    await tenant.rows.pool.transaction(async (tx) => {
      await tx.query(`
        SET LOCAL search_path = ${role}, ext;
        CREATE TEMPORARY TABLE audit_entries (LIKE audit_entries INCLUDING ALL) ON COMMIT DROP;
        CREATE TEMPORARY TABLE stolen (by text) ON COMMIT DROP;
        CREATE FUNCTION pg_temp.steal() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN INSERT INTO pg_temp.stolen VALUES (current_user); RETURN NULL; END $$;
        CREATE TRIGGER steal BEFORE INSERT ON pg_temp.audit_entries FOR EACH ROW EXECUTE FUNCTION pg_temp.steal();
        GRANT ALL ON pg_temp.stolen, pg_temp.audit_entries TO ${role};
        SET LOCAL ROLE ${role}`);
      await tx.query('UPDATE files SET deleted_at = now() WHERE uuid = $1', [shadowed]);
      expect(await tx.query('SELECT * FROM pg_temp.stolen')).toEqual([]);
      await tx.query('RESET ROLE; DROP FUNCTION pg_temp.steal CASCADE');
    });

    expect(await actionsOf(shadowed)).toEqual(['file.upload', 'file.delete']);
    const unguarded = await tenant.db.query(
      `SELECT p.proname FROM pg_proc p WHERE p.prosecdef AND p.pronamespace = $1::regnamespace
         AND NOT p.proconfig @> ARRAY[format('search_path=%I, ext, pg_temp', $2::text)]`,
      [`"${tenantRole(tenant.slug)}"`, tenantRole(tenant.slug)],
    );
    expect(unguarded).toEqual([]);
  });

  test('deletes by the function of the retention only what is older than 365 days', async () => {
    const { api } = await tenant.user();
    const [old, young] = [await upload(api, 'old.txt'), await upload(api, 'young.txt')];
    const age = (id: string, days: number): Promise<unknown> =>
      tenant.rows.pool.query(`UPDATE ${AUDIT()} SET at = now() - make_interval(days => $2) WHERE target_id = $1`, [id, days]);
    await age(old, 366);
    await age(young, 364);

    expect(await tenant.db.query('SELECT carrel.expire_audit() AS deleted')).toEqual([{ deleted: 1 }]);
    expect([await actionsOf(old), await actionsOf(young)]).toEqual([[], ['file.upload']]);
  });
});

describe('the list', () => {
  test('is for administrators alone, in one statement, of which filters take part', async () => {
    const { api, user } = await tenant.user();
    const id = await upload(api, 'filtered.txt');
    await api.delete(`/files/${id}`);
    const refused = await api.get('/audit');
    const { sql } = await tenant.counting(() => tenant.admin.get('/audit', { query: { actor: user.id } }));

    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    expect(sql.filter((text) => text.includes('audit_entries'))).toHaveLength(1);
    const [deleted, uploaded] = await entries({ actor: user.id, target_type: 'file' });
    const filtered = async (query: Record<string, string>): Promise<string[]> =>
      (await entries({ target_id: id, ...query })).map(({ action }) => action);
    expect(await filtered({ after: uploaded!.at })).toEqual(['file.delete']);
    expect(await filtered({ before: deleted!.at })).toEqual(['file.upload']);
    expect(await filtered({ action: 'file.delete' })).toEqual(['file.delete']);
    expect(await filtered({ actor: randomUUID() })).toEqual([]);
  });

  test.each([
    ['action', 'file.eat'],
    ['target_type', 'cat'],
    ['actor', 'ada'],
    ['resource', 'plan.txt'],
    ['after', 'yesterday'],
  ])('refuses %s=%s with the name of the field', async (name, value) => {
    const { status, body } = await tenant.admin.get('/audit', { query: { [name]: value } });
    expect([status, body.error, body.details[0].field]).toEqual([400, 'validation_failed', name]);
  });

  test('comes whole as NDJSON, a statement for each thousand, in order, without gap or double', async () => {
    const actor = randomUUID();
    await tenant.rows.pool.query(
      `INSERT INTO ${AUDIT()} (at, actor_id, actor_name, is_system, action, target_type, target_id, changes)
       SELECT now() - interval '1 s' * (n / 10), $1, 'Export', false, 'file.upload', 'file', gen_random_uuid(), '{}'
       FROM generate_series(1, 2500) n`,
      [actor],
    );
    const ask = (query: Record<string, string | number>): Promise<ApiReply> =>
      tenant.admin.get('/audit', { query: { actor, ...query }, headers: { accept: 'application/x-ndjson' } });
    const { reply, sql } = await tenant.counting(() => ask({ limit: 10 }));

    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    const lines = reply.bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEntry);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(2500);
    expect(lines.map(({ at }) => at)).toEqual(
      lines
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    );
    expect(sql.filter((text) => text.includes('audit_entries'))).toHaveLength(3);
    expect((await entries({ actor, limit: 1 }))[0]).toEqual(lines[0]);
    expect((await ask({ action: 'file.purge' })).bytes).toHaveLength(0);
    expect((await ask({ sort: 'name' })).status).toBe(400);
  });

  test('comes whole as a table, in which a name that begins like a formula is text', async () => {
    const { api, user } = await tenant.user();
    await tenant.admin.patch(`/users/${user.id}`, { display_name: '=HYPERLINK("http://evil.example")' });
    const id = await upload(api, 'tabled.txt');
    await api.patch(`/files/${id}`, { name: 'a, b.txt' });

    const reply = await tenant.admin.get('/audit', {
      query: { actor: user.id, target_id: id, sort: 'at' },
      headers: { accept: 'text/csv' },
    });

    const [head, uploaded = '', renamed = '', ...rest] = reply.bytes.toString().split('\r\n');
    expect([reply.status, reply.headers['content-type'], rest]).toEqual([200, 'text/csv', ['']]);
    expect(head).toBe('at,actor_id,actor,action,target_type,target_id,target,ip,request_id,changes');
    expect(uploaded).toContain(`,${user.id},"'=HYPERLINK(""http://evil.example"")",file.upload,file,${id},tabled.txt,`);
    expect(renamed).toContain(`,file.update,file,${id},"a, b.txt",`);
    expect(renamed).toContain('"{""name"":{""to"":""a, b.txt"",""from"":""tabled.txt""}');
  });
});
