import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Deployments } from '../../../pkg/lti/registrations/deployments.service.ts';
import { newToolKey, type ToolKey } from '../../../pkg/lti/registrations/tool-key.ts';
import { type Registration as LaunchedBy, requireUnused } from '../../../pkg/lti/launch/launch.sql.ts';
import { type Registration, removeRegistration, syncRegistration } from '../../../pkg/lti/registrations/registration.sql.ts';
import { silentLogger as log } from '../../../pkg/runtime/log.ts';
import { systemRandom as random } from '../../../pkg/runtime/random.ts';
import { Sealer } from '../../../pkg/runtime/sealing.ts';
import { Database, type Tx } from '../../../pkg/store/postgres/database.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import type { TenantRows } from '../../../pkg/store/postgres/tenant-schema.ts';
import { testBackends } from '../../support/backends/backends.ts';
import { newTenant, operatorSide } from '../../support/backends/tenant.ts';
import { waitFor } from '../../support/wait.ts';

const ISSUER = 'https://lms.example';
let rows: TenantRows;
/** Reads the rows as the tenant's server does; its search path is the tenant's schema. */
let server: SqlPool;
let url: string;
let key: ToolKey;

beforeAll(async () => {
  const { stores } = testBackends();
  const { pool, shard } = await operatorSide(stores);
  const tenantId = String(Math.floor(random.fraction() * 2 ** 31) + 2 ** 31);
  const made = await newTenant(stores, shard, tenantId);
  const { slug } = made;
  url = made.url;
  rows = { slug, tenantId, pool, sealer: new Sealer([{ id: 'p1', key: random.bytes(32) }], random) };
  server = new SqlPool({ url, poolSize: 3, log });
  key = await newToolKey();
});
afterAll(() => Promise.all([server?.close(), rows?.pool.close()]));

const registration = (clientId: string, issuer = ISSUER): Registration => ({
  platform: {
    issuer,
    authEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    jwksEndpoint: `${issuer}/jwks`,
    platformName: null,
    tokenAudience: null,
    frameAncestors: [],
  },
  tool: {
    clientId,
    consumerKey: clientId,
    toolUrl: 'https://tool.example',
    scope: 'openid',
    deepLinkingResponseMode: 'Query',
    deploymentPolicy: 'Listed',
    isActive: true,
  },
  deploymentIds: ['1'],
});
const sync = (reference: string, wanted: Registration): Promise<unknown> =>
  syncRegistration(rows, reference, wanted, { given: key, generate: newToolKey, period: undefined, now: new Date() });
const isActive = async (issuer: string): Promise<boolean | undefined> =>
  (await server.query<{ isActive: boolean }>('SELECT is_active AS "isActive" FROM lti_platforms WHERE issuer = $1', [issuer]))[0]
    ?.isActive;

/** A platform with one registration `ns/first` and somebody who has launched from it, so that it outlives its registrations. */
async function launchedFrom(issuer: string): Promise<void> {
  await sync('ns/first', registration(`first of ${issuer}`, issuer));
  await server.query(
    `WITH person AS (INSERT INTO users (uuid, email, username) VALUES (gen_random_uuid(), $2, $3) RETURNING id)
     INSERT INTO lti_identities (platform_id, subject, user_id) SELECT p.id, 'subject', person.id FROM lti_platforms p, person
     WHERE p.issuer = $1`,
    [issuer, `${random.hex(4)}@lms.example`, random.hex(4)],
  );
}

/** Holds the row of the platform until `count` transactions wait for a lock in this tenant's schema. */
async function whileHeld(issuer: string, begin: readonly (() => Promise<unknown>)[]): Promise<void> {
  const running: Promise<unknown>[] = [];
  await server.transaction(async (tx) => {
    await tx.query('SELECT FROM lti_platforms WHERE issuer = $1 FOR UPDATE', [issuer]);
    for (const [index, start] of begin.entries()) {
      running.push(start());
      await waitFor(`transaction ${index + 1} to wait for the platform's row`, async () => {
        const waiting = await rows.pool.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
          [rows.slug],
        );
        return waiting.length === index + 1;
      });
    }
  });
  await Promise.all(running);
}

test.each([
  ['before', ['sync', 'remove']],
  ['after', ['remove', 'sync']],
] as const)(
  'a registration that is synced %s another of its issuer is removed, at once, leaves the platform active',
  async (name, order) => {
    const issuer = `https://${name}.example`;
    await launchedFrom(issuer);
    const both = {
      remove: () => removeRegistration(rows, 'ns/first'),
      sync: () => sync('ns/second', registration(`second of ${issuer}`, issuer)),
    };

    await whileHeld(
      issuer,
      order.map((which) => both[which]),
    );

    expect(await isActive(issuer)).toBe(true);
    await removeRegistration(rows, 'ns/second');
    expect(await isActive(issuer)).toBe(false);
  },
);

const entriesOf = (clientId: string): Promise<{ action: string; changes: object }[]> =>
  server.query(
    `SELECT action, changes FROM audit_entries WHERE target_type = 'registration' AND target_name = $1 AND is_system
       AND action LIKE 'registration.%' ORDER BY id`,
    [clientId],
  );

test('the audit log has a registration’s creation, changes (its LMS’s too) and end, and of its key the id alone', async () => {
  const issuer = 'https://audited.example';
  const wanted = registration('audited', issuer);
  await sync('ns/audited', wanted);
  await sync('ns/audited', wanted);
  await sync('ns/audited', { ...wanted, tool: { ...wanted.tool, isActive: false } });
  await sync('ns/audited', { ...wanted, platform: { ...wanted.platform, jwksEndpoint: `${issuer}/other` } });
  await removeRegistration(rows, 'ns/audited');

  expect(await entriesOf('audited')).toEqual([
    {
      action: 'registration.create',
      changes: {
        client_id: { from: null, to: 'audited' },
        tool_url: { from: null, to: 'https://tool.example' },
        scope: { from: null, to: 'openid' },
        is_active: { from: null, to: true },
        key_id: { from: null, to: key.kid },
        deployment_policy: { from: null, to: 'Listed' },
        deployment_ids: { from: null, to: ['1'] },
        issuer: { from: null, to: issuer },
      },
    },
    { action: 'registration.update', changes: { is_active: { from: true, to: false } } },
    { action: 'registration.update', changes: { jwks_endpoint: { from: `${issuer}/jwks`, to: `${issuer}/other` } } },
    { action: 'registration.update', changes: { is_active: { from: false, to: true } } },
    { action: 'registration.delete', changes: {} },
  ]);
});

test('the audit log has a registration’s listed deployments and policy, also where REST had admitted one before', async () => {
  const issuer = 'https://listed.example';
  const wanted = registration('listed', issuer);
  const listing = (deploymentPolicy: 'Listed' | 'Confirm', ...deploymentIds: string[]) =>
    sync('ns/listed', { ...wanted, tool: { ...wanted.tool, deploymentPolicy }, deploymentIds });
  await listing('Listed', '1');
  await listing('Listed', '2', '1');
  await listing('Listed', '1', '2');
  await listing('Confirm', '2');
  const [tool] = await server.query<{ uuid: string }>(`SELECT uuid FROM lti_tools WHERE client_id = 'listed'`);
  const db = new Database({ url, poolSize: 1, log });
  await new Deployments({ db }).decide(tool?.uuid ?? '', { deployment_id: '3', status: 'admitted' });
  await db.close();
  await listing('Confirm', '2');
  await listing('Confirm', '2', '3');
  await listing('Confirm');

  expect((await entriesOf('listed')).slice(1).map(({ changes }) => changes)).toEqual([
    { deployment_ids: { from: ['1'], to: ['1', '2'] } },
    { deployment_policy: { from: 'Listed', to: 'Confirm' }, deployment_ids: { from: ['1', '2'], to: ['2'] } },
    { deployment_ids: { from: ['2'], to: ['2', '3'] } },
    { deployment_ids: { from: ['2', '3'], to: [] } },
  ]);
});

test('a platform that became inactive while a registration of it is there is active again after the next sync', async () => {
  const issuer = 'https://inactive.example';
  await sync('ns/only', registration('only', issuer));
  await rows.pool.query(`UPDATE "tenant_${rows.slug}".lti_platforms SET is_active = false WHERE issuer = $1`, [issuer]);

  await sync('ns/only', registration('only', issuer));

  expect(await isActive(issuer)).toBe(true);
});

test('two registrations that change places between two issuers, at once, both arrive', async () => {
  const [one, two] = ['https://one.example', 'https://two.example'];
  await launchedFrom(one);
  await removeRegistration(rows, 'ns/first');
  await launchedFrom(two);
  await removeRegistration(rows, 'ns/first');
  await sync('ns/one', registration('one', one));
  await sync('ns/two', registration('two', two));

  await whileHeld(one, [() => sync('ns/one', registration('one', two)), () => sync('ns/two', registration('two', one))]);

  expect([await isActive(one), await isActive(two)]).toEqual([true, true]);
});

test('a first launch beside the removal of its registration waits for it without a lock that the removal needs', async () => {
  const issuer = 'https://launched.example';
  await sync('ns/launched', registration('launched', issuer));
  const [by] = await server.query<LaunchedBy>(
    `SELECT id AS "toolId", platform_id AS "platformId", client_id AS "clientId" FROM lti_tools WHERE client_id = 'launched'`,
  );
  if (!by) throw new Error('there is no registration');
  // Count this tenant alone, since other files' launches wait in the same database.
  const waiting = async (count: number): Promise<boolean> =>
    (
      await rows.pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
           AND (usename = 'tenant_' || $1::text OR query LIKE '%' || $1 || '%')`,
        [rows.slug],
      )
    ).length >= count;
  let removal: Promise<void> | undefined;
  let launch: Promise<unknown> | undefined;

  await server.transaction(async (tx) => {
    await tx.query('SELECT FROM lti_platforms WHERE issuer = $1 FOR NO KEY UPDATE', [issuer]);
    removal = removeRegistration(rows, 'ns/launched');
    await waitFor('the removal, which has deleted the tool, to wait for the platform', () => waiting(1));
    launch = server
      .transaction((own) => requireUnused(own as Tx, { registration: by, state: 'state' }))
      .catch((error: unknown) => error);
    await waitFor('the launch to wait for the tool', () => waiting(2));
  });

  await removal;
  expect(await launch).toMatchObject({ code: 'registration_inactive' });
  expect(await isActive(issuer)).toBeUndefined();
});

const KEY_SETS = { a: 'https://a.example/jwks', b: 'https://b.example/jwks' };
const platformsOf = (issuer: string) =>
  server.query<{ id: number; jwks: string; token: string; isActive: boolean }>(
    `SELECT id, jwks_endpoint AS jwks, token_endpoint AS token, is_active AS "isActive" FROM lti_platforms WHERE issuer = $1
     ORDER BY id`,
    [issuer],
  );
const at = (jwksEndpoint: string, wanted: Registration, more: Partial<Registration> = {}): Registration => ({
  ...wanted,
  platform: { ...wanted.platform, jwksEndpoint, tokenEndpoint: new URL('/token', jwksEndpoint).href },
  ...more,
});

test('registrations of one issuer with key sets of their own are of LMSs of their own, also with one client id', async () => {
  const issuer = 'https://twins.example';
  const wanted = registration('twin', issuer);
  await Promise.all([sync('ns/twin-a', at(KEY_SETS.a, wanted)), sync('ns/twin-b', at(KEY_SETS.b, wanted))]);

  const both = await platformsOf(issuer);
  await removeRegistration(rows, 'ns/twin-b');

  expect(Object.fromEntries(both.map(({ jwks, token }) => [jwks, token]))).toEqual({
    [KEY_SETS.a]: 'https://a.example/token',
    [KEY_SETS.b]: 'https://b.example/token',
  });
  expect((await platformsOf(issuer)).map(({ jwks, isActive }) => [jwks, isActive])).toEqual([[KEY_SETS.a, true]]);
});

test('an LMS that publishes its keys elsewhere stays the same one, for all its registrations and their agreements', async () => {
  const issuer = 'https://moving.example';
  const [one, two] = [registration('moving-1', issuer), registration('moving-2', issuer)];
  await sync('ns/moving-1', at(KEY_SETS.a, one));
  await sync('ns/moving-2', at(KEY_SETS.a, two));
  const before = await platformsOf(issuer);
  await server.query(
    `INSERT INTO lti_registration_links (uuid, token_hash, expires_at, issuer, jwks_endpoint)
     VALUES (gen_random_uuid(), 'moving', now(), $1, $2)`,
    [issuer, KEY_SETS.a],
  );
  const peers = ['ns/moving-1', 'ns/moving-2'];

  await sync('ns/moving-1', at(KEY_SETS.b, one, { peers }));
  await sync('ns/moving-2', at(KEY_SETS.b, two, { peers }));

  expect(await platformsOf(issuer)).toEqual([
    { id: before[0]?.id, jwks: KEY_SETS.b, token: 'https://b.example/token', isActive: true },
  ]);
  expect(await server.query(`SELECT jwks_endpoint AS jwks FROM lti_registration_links WHERE token_hash = 'moving'`)).toEqual([
    { jwks: KEY_SETS.b },
  ]);
});

test('one of two registrations of an LMS does not move to another key set by itself', async () => {
  const issuer = 'https://shared.example';
  const one = registration('shared-1', issuer);
  await sync('ns/shared-1', at(KEY_SETS.a, one));
  await sync('ns/shared-2', at(KEY_SETS.a, registration('shared-2', issuer)));

  const moved = sync('ns/shared-1', at(KEY_SETS.b, one, { peers: ['ns/shared-1'] }));

  await expect(moved).rejects.toThrow(/^another jwksEndpoint .* which shared-2 shares: change it there too/);
  expect((await platformsOf(issuer)).map(({ jwks }) => jwks)).toEqual([KEY_SETS.a]);
});

test('a registration that comes to name the key set of another LMS leaves its own people behind', async () => {
  const issuer = 'https://joining.example';
  await launchedFrom(issuer);
  await sync('ns/joined', at(KEY_SETS.b, registration('joined', issuer)));

  await sync('ns/first', at(KEY_SETS.b, registration(`first of ${issuer}`, issuer)));

  expect((await platformsOf(issuer)).map(({ jwks, isActive }) => [jwks, isActive])).toEqual([
    [`${issuer}/jwks`, false],
    [KEY_SETS.b, true],
  ]);
});

test('issuer and key set may be as long as their columns take', async () => {
  const long = (start: string) => start + random.base64url(2_000).slice(0, 500 - start.length);
  const issuer = long('https://long.example/');

  const wanted = at(long('https://keys.example/'), registration('long', issuer));

  await sync('ns/long', { ...wanted, platform: { ...wanted.platform, authEndpoint: issuer } });

  expect(await platformsOf(issuer)).toHaveLength(1);
});
