import { expect, test } from '@jest/globals';
import { Browser, follow, type PageShown } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { deepLinking } from '../../../pkg/local/demo/lms/deep-linking.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { changedTo, type Deployments, registeredLms, type Registration } from '../../support/lms/registration.ts';
import { range, untilServed } from '../../support/wait.ts';

const { tenant, at } = lmsSuite();

const confirming = (deployments: Deployments = {}): Promise<Registration> =>
  registeredLms(tenant, at, { deploymentPolicy: 'Confirm', ...deployments });
const launch = (by: Registration, deploymentId: string, fault: Fault = {}, message: object = {}): Promise<PageShown> =>
  follow(
    new Browser(),
    by.lms.open(by.clientId, message, { ...fault, claims: (claims) => void (claims[`${LTI}/deployment_id`] = deploymentId) }),
  );
const requestsOf = (by: Registration) =>
  tenant.db.query<{ id: string; status: string; launches: number }>(
    `SELECT deployment_id AS id, status, launches::int FROM lti_deployment_requests WHERE tool_id = $1 ORDER BY deployment_id`,
    [by.toolId],
  );
const waiting = (id: string, launches: number) => ({ id, status: 'waiting', launches });
/** Writes the row that a decision leaves. The endpoint has tests of its own. */
const decide = (by: Registration, id: string, status: string) =>
  tenant.db.query(
    `UPDATE lti_deployment_requests SET status = $3, decided_at = now() WHERE tool_id = $1 AND deployment_id = $2`,
    [by.toolId, id, status],
  );

test('an unknown deployment waits: the page shows its id and who has to act, and its launches leave nothing else', async () => {
  const by = await confirming();

  const page = await launch(by, 'campus 7');
  const { reply: again, sql } = await tenant.counting(() => launch(by, 'campus 7'));
  const listed = await launch(by, '1');

  expect([page.status, page.code, again.code, listed.status]).toEqual([403, 'deployment_waiting', 'deployment_waiting', 303]);
  expect(page.text).toContain('An administrator of this service has to admit this deployment');
  expect(page.text).toContain('Its id is campus 7');
  // Login initiation, the look-up, the request.
  expect(sql).toHaveLength(3);
  expect(await requestsOf(by)).toEqual([waiting('campus 7', 2)]);
  const left = await tenant.db.tables.ltiLaunches.count({ toolId: by.toolId, deploymentId: 'campus 7' });
  expect(left).toBe(0);
});

test('a refused launch of a waiting deployment leaves no person and no course', async () => {
  const by = await confirming();
  const counts = () =>
    tenant.db.query(
      `SELECT (SELECT count(*) FROM users) AS people, (SELECT count(*) FROM groups) AS courses, count(*) AS sessions
       FROM sessions`,
    );
  const before = await counts();

  const page = await launch(by, 'strangers', {}, { user: { id: 'stranger' }, course: { id: 'strange', title: 'Strange' } });

  expect(page.code).toBe('deployment_waiting');
  expect(await counts()).toEqual(before);
});

test.each<[string, (by: Registration, claims: Fault['claims']) => Fault]>([
  ['a request for content', (by, claims) => deepLinking(by.lms.issuer, {}, claims ? { claims } : {})],
  [
    'a submission review',
    (_by, claims) => ({
      claims: (all) => {
        Object.assign(all, { [`${LTI}/message_type`]: 'LtiSubmissionReviewRequest', [`${LTI}/for_user`]: { user_id: 'ben' } });
        claims?.(all);
      },
    }),
  ],
])('%s of an unknown deployment waits as a launch does', async (_what, faultOf) => {
  const by = await confirming();
  const fault = faultOf(by, (all) => void (all[`${LTI}/deployment_id`] = 'campus 7'));

  const page = await follow(new Browser(), by.lms.open(by.clientId, { roles: [INSTRUCTOR] }, fault));

  expect([page.code, await requestsOf(by)]).toEqual(['deployment_waiting', [waiting('campus 7', 1)]]);
});

test.each<[string, Fault, string]>([
  ['a signature that does not hold', { token: (token) => token.slice(0, -8) }, 'signature_invalid'],
  ['no signature', { token: (token) => token.replace(/[^.]*$/, '') }, 'signature_invalid'],
  ['alg none', { header: (header) => void (header['alg'] = 'none') }, 'alg_refused'],
  ['a key of another', { signer: 'impostor' }, 'signature_invalid'],
  ['a state of another browser', { form: (fields) => fields.set('state', 'A'.repeat(43)) }, 'state_not_bound'],
])('a launch with %s leaves no request', async (_what, fault, code) => {
  const by = await confirming();

  const page = await launch(by, 'forged', fault);

  expect([page.code, await requestsOf(by)]).toEqual([code, []]);
});

test('100 deployments wait at most, however many launch at once, and one that is idle for a day makes room', async () => {
  const by = await confirming();
  await tenant.db.query(
    `INSERT INTO lti_deployment_requests (tool_id, platform_id, deployment_id, launches, first_seen_at, last_seen_at)
     SELECT $1, $2, 'earlier-' || n, 1, now(), now() FROM generate_series(1, 85) n`,
    [by.toolId, by.platformId],
  );

  const pages = await Promise.all(range(30).map((at) => untilServed(() => launch(by, `racing-${at}`))));
  const full = await requestsOf(by);
  const late = await launch(by, 'late');
  await tenant.db.query(
    `UPDATE lti_deployment_requests SET last_seen_at = now() - interval '25 hours' WHERE tool_id = $1 AND deployment_id = $2`,
    [by.toolId, full[0]?.id],
  );
  await launch(by, 'late');
  await launch(by, 'later');

  expect(new Set(pages.map(({ code }) => code))).toEqual(new Set(['deployment_waiting']));
  expect(full).toHaveLength(100);
  expect(pages.filter(({ text }) => text.includes('the list of waiting deployments is full'))).toHaveLength(15);
  expect(late.text).toContain('the list of waiting deployments is full');
  const after = (await requestsOf(by)).map(({ id }) => id);
  expect(new Set(after)).toEqual(new Set([...full.slice(1).map(({ id }) => id), 'late']));
});

test('racing launches of one deployment leave one request that counts them', async () => {
  const by = await confirming();

  await Promise.all(range(8).map(() => untilServed(() => launch(by, 'one'))));

  expect(await requestsOf(by)).toEqual([waiting('one', 8)]);
});

test('a deployment that an administrator refused stays refused, with its code', async () => {
  const by = await confirming();
  await launch(by, 'unwanted');
  await decide(by, 'unwanted', 'refused');

  const pages = [await launch(by, 'unwanted'), await launch(by, 'unwanted')];

  expect(pages.map(({ status, code }) => [status, code])).toEqual([
    [403, 'deployment_refused'],
    [403, 'deployment_refused'],
  ]);
});

test('a registration that lists its deployments leaves no request', async () => {
  const by = await registeredLms(tenant, at);

  const page = await launch(by, 'unlisted');

  expect([page.code, await requestsOf(by)]).toEqual(['unknown_deployment', []]);
});

test('a deployment that comes to be listed launches and waits no more; taken off the list it waits again', async () => {
  const by = await confirming();
  await launch(by, 'campus 7');
  await launch(by, 'campus 8');
  await decide(by, 'campus 8', 'refused');

  await changedTo(tenant, by, { deploymentPolicy: 'Confirm', deploymentIds: ['1', 'campus 7', 'campus 8'] });
  const listed = [await launch(by, 'campus 7'), await launch(by, 'campus 8'), await launch(by, '1')];
  const requests = await requestsOf(by);
  await changedTo(tenant, by, { deploymentPolicy: 'Confirm', deploymentIds: ['1'] });
  const unlisted = await launch(by, 'campus 7');

  expect(listed.map(({ status }) => status)).toEqual([303, 303, 303]);
  expect(requests).toEqual([]);
  expect(unlisted.code).toBe('deployment_waiting');
});

test('a notice of an unknown deployment is refused and leaves a request, and one that is not signed leaves none', async () => {
  const by = await confirming();
  const notice = (deploymentId: string, fault: Fault = {}) => ({
    jwt: by.lms.notice(
      by.clientId,
      'LtiHelloWorldNotice',
      {},
      { ...fault, claims: (all) => void (all[`${LTI}/deployment_id`] = deploymentId) },
    ),
  });
  const post = (...notices: object[]) => tenant.anonymous.post(`${tenant.url}/notices`, { notices });

  const refused = await post(notice('campus 7'));
  const forged = await post(notice('forged', { signer: 'impostor' }));
  const mixed = await post(notice('1'), notice('campus 7'), notice('campus 8'));
  await decide(by, 'campus 8', 'refused');
  const decided = await post(notice('campus 8'));

  expect([refused.status, refused.body.error, forged.body.error]).toEqual([403, 'deployment_waiting', 'signature_invalid']);
  expect([mixed.status, mixed.body.accepted, mixed.body.refused.map(({ error }: { error: string }) => error)]).toEqual([
    200,
    1,
    ['deployment_waiting', 'deployment_waiting'],
  ]);
  expect(decided.body.error).toBe('deployment_refused');
  expect(await requestsOf(by)).toEqual([waiting('campus 7', 2), { id: 'campus 8', status: 'refused', launches: 2 }]);
});

test('a registration that comes to name another client id forgets what waited and what was decided', async () => {
  const by = await confirming();
  await launch(by, 'campus 7');
  await launch(by, 'campus 8');
  await decide(by, 'campus 8', 'admitted');

  const changed = await changedTo(tenant, by, { clientId: `${by.clientId}-2`, deploymentPolicy: 'Confirm' });

  expect(changed.toolId).toBe(by.toolId);
  expect(await requestsOf(by)).toEqual([]);
  expect((await launch(changed, 'campus 8')).code).toBe('deployment_waiting');
});
