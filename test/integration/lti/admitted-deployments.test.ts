import { expect, test } from '@jest/globals';
import { Browser, follow, type PageShown } from '../../support/lms/browser.ts';
import { LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { changedTo, registeredLms, type Registration } from '../../support/lms/registration.ts';
import { startTenant } from '../../support/programs/server.ts';
import { range, untilServed } from '../../support/wait.ts';

const { tenant, at } = lmsSuite();

const confirming = (): Promise<Registration> => registeredLms(tenant, at, { deploymentPolicy: 'Confirm' });
const launch = (by: Registration, deploymentId: string): Promise<PageShown> =>
  follow(
    new Browser(),
    by.lms.open(
      by.clientId,
      { user: { id: 'regular' } },
      { claims: (claims) => void (claims[`${LTI}/deployment_id`] = deploymentId) },
    ),
  );
const requestsOf = (by: Registration) =>
  tenant.db.query<{ id: string; status: string; launches: number }>(
    `SELECT deployment_id AS id, status, launches::int FROM lti_deployment_requests WHERE tool_id = $1 ORDER BY deployment_id`,
    [by.toolId],
  );
const waiting = (id: string, launches: number) => ({ id, status: 'waiting', launches });

/** Returns the registration as administrators see it. */
async function atRest(by: Registration) {
  const id = (await tenant.db.tables.ltiTools.find({ id: by.toolId }))?.uuid ?? '';
  const path = `/lti/registrations/${id}/deployments`;
  return {
    path,
    registration: async () => (await tenant.admin.get(`/lti/registrations/${id}`)).body,
    list: async (query: Record<string, string> = {}) => (await tenant.admin.get(path, { query })).body.data,
    decide: (deploymentId: string, status: string, by = tenant.admin) => by.post(path, { deployment_id: deploymentId, status }),
  };
}

test('a deployment admitted by REST launches at once, at no cost for warm launches; once refused, it does not', async () => {
  const by = await confirming();
  const rest = await atRest(by);
  await launch(by, 'campus 7');
  const before = [await rest.list({ status: 'waiting' }), (await rest.registration()).waiting_deployments];

  const admitted = await rest.decide('campus 7', 'admitted');
  const first = await launch(by, 'campus 7');
  const { reply: warm, sql } = await tenant.counting(() => launch(by, 'campus 7'));
  const shown = await rest.list({ sort: '-last_seen_at' });
  const registration = await rest.registration();
  const refused = await rest.decide('campus 7', 'refused');
  const closed = await launch(by, 'campus 7');
  const again = await rest.decide('campus 7', 'admitted');

  const seen = { deployment_id: 'campus 7', launches: 1, first_seen_at: expect.any(String), last_seen_at: expect.any(String) };
  expect(before).toEqual([[{ ...seen, status: 'waiting', may_launch: false, decided_at: null }], 1]);
  expect([admitted.status, admitted.body]).toEqual([
    200,
    { ...seen, status: 'admitted', may_launch: true, decided_at: expect.any(String) },
  ]);
  expect([first.status, warm.status]).toEqual([303, 303]);
  expect(sql).toHaveLength(2);
  expect(shown).toEqual([
    {
      deployment_id: '1',
      status: 'listed',
      may_launch: true,
      launches: 0,
      first_seen_at: null,
      last_seen_at: null,
      decided_at: null,
    },
    admitted.body,
  ]);
  expect(registration).toMatchObject({ deployment_policy: 'Confirm', waiting_deployments: 0, deployment_ids: ['1', 'campus 7'] });
  expect([refused.body.status, refused.body.may_launch, closed.code]).toEqual(['refused', false, 'deployment_refused']);
  expect(again.body).toMatchObject({ status: 'admitted', may_launch: true });
  expect((await launch(by, 'campus 7')).status).toBe(303);
});

test('deciding twice changes nothing and makes one entry in the audit log: who did it, where and about what', async () => {
  const by = await confirming();
  const rest = await atRest(by);
  const first = await rest.decide('before its first launch', 'admitted');
  const again = await rest.decide('before its first launch', 'admitted');
  await rest.decide('before its first launch', 'refused');

  const { id } = await rest.registration();
  const entries = (await tenant.admin.get('/audit', { query: { target_id: id } })).body.data;
  const me = (await tenant.admin.get('/users/me')).body;
  expect(again.body).toEqual(first.body);
  expect((await launch(by, 'before its first launch')).code).toBe('deployment_refused');
  const changes = { deployment_id: { from: null, to: 'before its first launch' } };
  expect(entries).toMatchObject([
    { action: 'deployment.refuse', actor: { id: me.id }, target: { type: 'registration', id, name: by.clientId }, changes },
    { action: 'deployment.admit', actor: { id: me.id }, target: { type: 'registration', id, name: by.clientId }, changes },
  ]);
});

test.each(['..', 'a/b?c#d%2F', ' ', 'ß'.repeat(255), 'e\u0301', '\u202e"\n\\', `'; DROP TABLE lti_deployments; --`])(
  'the deployment id %j is shown, admitted and launches as it is',
  async (id) => {
    const by = await confirming();
    const rest = await atRest(by);
    const page = await launch(by, id);

    const waits = await rest.list({ status: 'waiting' });
    const admitted = await rest.decide(id, 'admitted');

    expect([page.code, waits[0]?.deployment_id, admitted.status]).toEqual(['deployment_waiting', id, 200]);
    expect((await launch(by, id)).status).toBe(303);
  },
);

test('deployments that the resource lists are not decided by REST, and a listing registration takes no decision', async () => {
  const by = await confirming();
  const rest = await atRest(by);
  const listing = await atRest(await registeredLms(tenant, at));

  const replies = [
    await rest.decide('1', 'refused'),
    await rest.decide('1', 'admitted'),
    await listing.decide('7', 'admitted'),
    await rest.decide('', 'admitted'),
    await rest.decide('x'.repeat(256), 'admitted'),
    await rest.decide('7', 'waiting'),
  ];

  expect(replies.map(({ status, body }) => [status, body.error ?? body.status])).toEqual([
    [403, 'managed'],
    [200, 'listed'],
    [409, 'conflict'],
    [400, 'validation_failed'],
    [400, 'validation_failed'],
    [400, 'validation_failed'],
  ]);
  expect(await requestsOf(by)).toEqual([]);
});

test('admitted deployments launch beside listed ones under the policy Confirm, also after the resource changes', async () => {
  const by = await confirming();
  const rest = await atRest(by);
  await rest.decide('campus 7', 'admitted');

  await changedTo(tenant, by, { deploymentPolicy: 'Confirm', deploymentIds: ['2'] });
  const confirmed = [await launch(by, 'campus 7'), await launch(by, '2')];
  await changedTo(tenant, by, { deploymentPolicy: 'Listed', deploymentIds: ['2'] });
  const listed = [await launch(by, 'campus 7'), await launch(by, '2')];
  const shown = await rest.list({ status: 'admitted' });
  await changedTo(tenant, by, { deploymentPolicy: 'Confirm', deploymentIds: ['2'] });
  const again = await launch(by, 'campus 7');

  expect(confirmed.map(({ status }) => status)).toEqual([303, 303]);
  expect([listed[0]?.code, listed[1]?.status]).toEqual(['unknown_deployment', 303]);
  expect(shown).toMatchObject([{ deployment_id: 'campus 7', may_launch: false }]);
  expect(again.status).toBe(303);
});

test('an admitted deployment that comes to be listed, and is taken off the list, waits again', async () => {
  const by = await confirming();
  const rest = await atRest(by);
  await rest.decide('campus 7', 'admitted');

  await changedTo(tenant, by, { deploymentPolicy: 'Confirm', deploymentIds: ['1', 'campus 7'] });
  const listed = await rest.list();
  await changedTo(tenant, by, { deploymentPolicy: 'Confirm', deploymentIds: ['1'] });

  expect(listed.map(({ deployment_id, status }: { deployment_id: string; status: string }) => [deployment_id, status])).toEqual([
    ['1', 'listed'],
    ['campus 7', 'listed'],
  ]);
  expect((await launch(by, 'campus 7')).code).toBe('deployment_waiting');
});

test('racing decisions about racing launches leave one row, which says what may launch', async () => {
  const by = await confirming();
  const rest = await atRest(by);

  await Promise.all(
    range(12).map((at) =>
      untilServed(() => launch(by, 'one')).then(() => rest.decide('one', at % 2 === 0 ? 'admitted' : 'refused')),
    ),
  );
  const [row, ...others] = await rest
    .list({ status: 'admitted' })
    .then(async (some) => [...some, ...(await rest.list({ status: 'refused' }))]);
  const page = await launch(by, 'one');

  expect(others).toEqual([]);
  expect(row.may_launch).toBe(row.status === 'admitted');
  expect([page.status, page.code]).toEqual(row.status === 'admitted' ? [303, undefined] : [403, 'deployment_refused']);
});

test('a registration keeps 1,000 decisions; one more is a conflict, and earlier decisions can still be changed', async () => {
  const by = await confirming();
  const rest = await atRest(by);
  await tenant.db.query(
    `INSERT INTO lti_deployment_requests (tool_id, platform_id, deployment_id, status, decided_at)
     SELECT $1, $2, 'd' || n, 'refused', now() FROM generate_series(1, 1000) n`,
    [by.toolId, by.platformId],
  );

  const replies = [await rest.decide('another', 'admitted'), await rest.decide('d1', 'admitted')];

  expect(replies.map(({ status, body }) => [status, body.error ?? body.status])).toEqual([
    [409, 'conflict'],
    [200, 'admitted'],
  ]);
});

test('only administrators see and decide, and neither another tenant’s nor another registration’s deployments', async () => {
  const [by, own] = [await confirming(), await confirming()];
  await launch(by, 'campus 7');
  const [rest, others] = [await atRest(by), await atRest(own)];
  const { api: member } = await tenant.user();
  const { api: instructor } = await launched(tenant, at);
  const other = await startTenant();

  try {
    const callers = [tenant.anonymous, member, instructor, other.admin];
    const seen = await Promise.all(callers.map((api) => api.get(rest.path)));
    const decided = await Promise.all(callers.map((api) => rest.decide('campus 7', 'admitted', api)));
    await others.decide('campus 7', 'admitted');

    expect(seen.map(({ status }) => status)).toEqual([401, 403, 403, 404]);
    expect(decided.map(({ status }) => status)).toEqual([401, 403, 403, 404]);
    expect(await requestsOf(by)).toEqual([waiting('campus 7', 1)]);
    expect((await launch(by, 'campus 7')).code).toBe('deployment_waiting');
    expect((await launch(own, 'campus 7')).status).toBe(303);
    expect(await other.db.query('SELECT FROM carrel.deployment_changes')).toEqual([]);
    await expect(other.db.query('DELETE FROM carrel.deployment_changes')).rejects.toThrow(/permission denied/);
    await expect(other.db.query(`INSERT INTO carrel.deployment_changes (tenant) VALUES ('tenant_x')`)).rejects.toThrow(
      /permission denied/,
    );
  } finally {
    await other.stop();
  }
});
