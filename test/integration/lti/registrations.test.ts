import { expect, test } from '@jest/globals';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { registeredLms } from '../../support/lms/registration.ts';
import { startTenant } from '../../support/programs/server.ts';

const { tenant, at } = lmsSuite();

const idOf = async (clientId: string): Promise<string> =>
  (await tenant.db.tables.ltiTools.find({ clientId }))?.uuid ?? `no registration ${clientId}`;

test('a registration is shown with all that an LMS asks for, in one statement, and without its private key', async () => {
  const id = await idOf(at.clientId);
  await tenant.admin.get('/lti/registrations');

  const { reply, sql } = await tenant.counting(() => tenant.admin.get(`/lti/registrations/${id}`));

  expect([reply.status, reply.body]).toEqual([
    200,
    {
      id,
      name: at.clientId,
      client_id: at.clientId,
      issuer: at.lms.issuer,
      platform_name: null,
      deployment_ids: ['1'],
      deployment_policy: 'Listed',
      waiting_deployments: 0,
      scope: 'openid',
      is_active: true,
      managed_by: 'kubernetes',
      managed_ref: `test/${at.clientId}`,
      login_initiation_url: `${tenant.url}/login_initiation`,
      redirect_uri: `${tenant.url}/launch`,
      launch_url: `${tenant.url}/lti/launch`,
      jwks_url: `${tenant.url}/.well-known/jwks.json`,
      public_key_ids: [at.keyId],
      registered: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      etag: expect.any(String),
    },
  ]);
  expect(sql).toHaveLength(1);
  expect(sql[0]).not.toContain('private_key');
  expect(reply.headers.etag).toBe(`"${reply.body.etag}"`);
});

test('public_key_ids names the keys of jwks.json, the one that signs first, and the tag changes with them', async () => {
  const by = await registeredLms(tenant, at);
  const id = await idOf(by.clientId);
  const before = (await tenant.admin.get(`/lti/registrations/${id}`)).body;
  const [tool] = await tenant.rows.pool.query<{ id: number }>(
    `SELECT id FROM "tenant_${tenant.slug}".lti_tools WHERE client_id = $1`,
    [by.clientId],
  );
  await tenant.rows.pool.query(
    `INSERT INTO "tenant_${tenant.slug}".lti_tool_keys (tool_id, key_id, public_key, private_key, published_at, published_until)
     SELECT $1, k.id, t.public_key, CASE WHEN k.until IS NULL THEN t.private_key END, now() - interval '2 days', k.until
     FROM "tenant_${tenant.slug}".lti_tools t,
       (VALUES ('former', now() + interval '1 hour'), ('next', NULL), ('gone', now() - interval '1 hour')) AS k (id, until)
       WHERE t.id = $1`,
    [tool?.id],
  );

  const after = (await tenant.admin.get(`/lti/registrations/${id}`)).body;
  const { keys } = (await tenant.anonymous.raw('GET', `${tenant.url}/.well-known/jwks.json`)).body as { keys: { kid: string }[] };

  expect(before.public_key_ids).toEqual([by.keyId]);
  expect(after.public_key_ids).toEqual([by.keyId, 'next', 'former']);
  expect(keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining(after.public_key_ids));
  expect(keys.map(({ kid }) => kid)).not.toContain('gone');
  expect(after.etag).not.toBe(before.etag);
});

test('the list has every registration once, in order and by pages, and a switched-off one as inactive', async () => {
  const others = [await registeredLms(tenant, at), await registeredLms(tenant, at)];
  await tenant.db.tables.ltiTools.update({ id: others[0]?.toolId ?? 0 }, { isActive: false });

  const whole = (await tenant.admin.get('/lti/registrations', { query: { sort: 'created_at', limit: '200' } })).body;
  const names: string[] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const page = (
      await tenant.admin.get('/lti/registrations', { query: { limit: '1', ...(cursor === undefined ? {} : { cursor }) } })
    ).body;
    names.push(...page.data.map(({ name }: { name: string }) => name));
    [cursor, more] = [page.pagination.next_cursor, page.pagination.has_more];
  }

  const all = whole.data.map(({ client_id }: { client_id: string }) => client_id);
  expect(all.slice(-2)).toEqual(others.map(({ clientId }) => clientId));
  const byName = (await tenant.admin.get('/lti/registrations', { query: { limit: '200' } })).body;
  expect(names).toEqual(byName.data.map(({ name }: { name: string }) => name));
  expect(new Set(names)).toEqual(new Set(all));
  expect(whole.data.find(({ client_id }: { client_id: string }) => client_id === others[0]?.clientId)).toMatchObject({
    is_active: false,
  });
});

test('the agreement of a Dynamic Registration is shown, as pending until somebody launches', async () => {
  const by = await registeredLms(tenant, at);
  const agreed = { product: 'moodle', scopes_asked: ['a', 'b'], scopes_granted: ['a'], placements: ['LtiDeepLinkingRequest'] };
  await tenant.db.query(
    `INSERT INTO lti_registration_links (uuid, token_hash, expires_at, used_at, issuer, client_id, registered)
     VALUES (gen_random_uuid(), $1, now(), '2026-01-31T12:00:00Z', $2, $3, $4),
       (gen_random_uuid(), $5, now(), now(), 'https://other.example', $3, $4)`,
    [`hash of ${by.clientId}`, by.lms.issuer, by.clientId, JSON.stringify(agreed), `other hash of ${by.clientId}`],
  );
  const shown = async () => (await tenant.admin.get(`/lti/registrations/${await idOf(by.clientId)}`)).body.registered;
  await tenant.db.query('DELETE FROM lti_identities');
  const before = await shown();

  await launched(tenant, by);

  expect(before).toEqual({ at: '2026-01-31T12:00:00.000Z', ...agreed, pending: true });
  expect(await shown()).toMatchObject({ pending: false });
});

test('only administrators see registrations, and none of another tenant’s', async () => {
  const { api: member } = await tenant.user();
  const { api: instructor } = await launched(tenant, at);
  const id = await idOf(at.clientId);
  const other = await startTenant();

  try {
    const refused = [
      await tenant.anonymous.get('/lti/registrations'),
      await member.get('/lti/registrations'),
      await instructor.get(`/lti/registrations/${id}`),
      await other.admin.get(`/lti/registrations/${id}`),
    ];

    expect(refused.map(({ status }) => status)).toEqual([401, 403, 403, 404]);
    expect((await other.admin.get('/lti/registrations')).body.data).toEqual([]);
  } finally {
    await other.stop();
  }
});
