import { describe, expect, test } from '@jest/globals';
import { fixture } from '../../support/suites/fixture.ts';
import { Browser, follow, toTheForm } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { FACES } from '../../../pkg/local/demo/lms/faces.ts';
import type { Fault } from '../../../pkg/local/demo/lms/faults.ts';
import { launched } from '../../support/lms/launched.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { applied, requestsOf, resourcesOf } from '../../support/lms/operator-made.ts';
import { delivered, picking } from '../../support/lms/picked.ts';
import { opensLink } from '../../support/lms/placed.ts';
import { registeredBy, registeredLms, type Registration } from '../../support/lms/registration.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { newLink, registered } from './registering.ts';

/** The default issuer of self-hosted Canvas, and the number of the first developer key of each. */
const ISSUER = 'https://canvas.instructure.com';
const CLIENT_ID = '10000000000001';
const OF_A = '5:a1b2c3';
const OF_B = '5:d4e5f6';
const COURSE = { id: '7', title: 'Biology' };

const tenant = serverSuite();

async function startCanvas(): Promise<Lms> {
  const lms = await Lms.start(ISSUER);
  lms.sendsDeployment = true;
  return lms;
}

/**
 * Two LMSs that a tenant cannot tell apart by issuer and client id. People, courses, links and keys have the same ids at both.
 */
const twins = fixture(
  async () => {
    const [a, b] = [await startCanvas(), await startCanvas()];
    b.rotate({ kid: a.kid, overlap: false });
    return {
      a: await registeredBy(tenant, 'canvas-a', a, { clientId: CLIENT_ID, deploymentId: OF_A }),
      b: await registeredBy(tenant, 'canvas-b', b, { clientId: CLIENT_ID, deploymentId: OF_B }),
    };
  },
  ({ a, b }) => Promise.all([a.lms.stop(), b.lms.stop()]),
);

const login = (change: (parameters: URLSearchParams) => void): Fault => ({ login: change });
const claims = (change: (all: Record<string, unknown>) => void): Fault => ({ claims: change });
const open = (at: Registration, fault: Fault = {}) => follow(new Browser(), at.lms.open(at.clientId, {}, fault));
const whoLaunches = async (at: Registration, role = LEARNER) => {
  const somebody = await launched(tenant, at, { user: { id: '1', name: 'Ada' }, course: COURSE, roles: [role] });
  return { ...somebody, id: (await somebody.api.get('/users/me')).body.id as string };
};
const contextOf = async (api: Awaited<ReturnType<typeof launched>>['api']) => (await api.get('/lti/contexts')).body.data[0];

describe('login initiation', () => {
  test('leads to the LMS whose registration lists the deployment, and the launch is taken', async () => {
    const { a, b } = twins;
    const locations = await Promise.all([a, b].map((at) => new Browser().get(at.lms.open(at.clientId))));

    expect(locations.map(({ headers }) => new URL(String(headers['location'])).origin)).toEqual([a.lms.base, b.lms.base]);
    expect([(await open(a)).status, (await open(b)).status]).toEqual([303, 303]);
  });

  test('takes one statement', async () => {
    const { sql } = await tenant.counting(() => new Browser().get(twins.b.lms.open(CLIENT_ID)));

    expect(sql).toHaveLength(1);
  });

  test.each([
    ['without deployment', login((p) => p.delete('lti_deployment_id')), 400, 'deployment_id_needed'],
    ['with an empty deployment', login((p) => p.set('lti_deployment_id', '')), 400, 'deployment_id_needed'],
    ['with a deployment that neither lists', login((p) => p.set('lti_deployment_id', 'stranger')), 403, 'deployment_undecided'],
    ['with a deployment that no column holds', login((p) => p.set('lti_deployment_id', 'a\0b')), 403, 'deployment_undecided'],
    ['without client id', login((p) => p.delete('client_id')), 400, 'client_id_needed'],
    ['with an unknown client id', login((p) => p.set('client_id', 'stranger')), 403, 'client_id_unknown'],
  ])('%s is refused with a code of its own', async (_what, fault, status, code) => {
    const page = await open(twins.a, fault);

    expect([page.status, page.code]).toEqual([status, code]);
    expect(page.text).not.toContain('stranger');
  });

  test('a deployment that both list is nobody’s, until one of them has it alone', async () => {
    const { a, b } = twins;
    await registeredBy(tenant, 'canvas-b', b.lms, { clientId: CLIENT_ID, deploymentId: OF_B, deploymentIds: [OF_B, OF_A] });
    const ambiguous = await open(a);
    await registeredBy(tenant, 'canvas-b', b.lms, { clientId: CLIENT_ID, deploymentId: OF_B });

    expect([ambiguous.status, ambiguous.code, (await open(a)).status]).toEqual([403, 'deployment_undecided', 303]);
  });

  test('a client id that one of them alone has needs no deployment', async () => {
    const own = await registeredBy(tenant, 'canvas-own', twins.a.lms, { clientId: 'own', deploymentId: '9' });

    const page = await open(
      own,
      login((p) => p.delete('lti_deployment_id')),
    );
    await tenant.db.tables.ltiTools.delete({ id: own.toolId });

    expect(page.status).toBe(303);
  });
});

describe('an id_token counts for the LMS that the login went to', () => {
  /** The login of one, and the form that the other answers. */
  async function crossed(from: Registration, to: Registration, change: Fault = {}) {
    const browser = new Browser();
    const begun = await browser.get(from.lms.open(from.clientId));
    const request = new URL(String(begun.headers['location']));
    const theirs = to.lms.open(to.clientId, {}, change).searchParams;
    for (const name of ['login_hint', 'lti_message_hint']) request.searchParams.set(name, theirs.get(name) ?? '');
    request.host = new URL(to.lms.base).host;
    const answered = await new Browser().get(request);
    const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(answered.text)?.[1] ?? '';
    return browser.post(`${tenant.url}/launch`, new URLSearchParams({ state: field('state'), id_token: field('id_token') }));
  }

  test.each([
    ['the other LMS signed, by a key with the same id', {}],
    ['the other LMS signed, for the deployment of the first', claims((all) => (all[`${LTI}/deployment_id`] = OF_A))],
  ])('one that %s is refused', async (_what, fault) => {
    const page = await crossed(twins.a, twins.b, fault);

    expect([page.status, page.code]).toEqual([401, 'signature_invalid']);
  });

  test('one of the LMS itself with the deployment of the other is refused', async () => {
    const page = await open(
      twins.a,
      claims((all) => (all[`${LTI}/deployment_id`] = OF_B)),
    );

    expect([page.status, page.code]).toEqual([403, 'unknown_deployment']);
  });
});

describe('what has the same ids at both', () => {
  test('a person is two people, and keeps being each', async () => {
    const { a, b } = twins;
    const [ofA, ofB] = [await whoLaunches(a), await whoLaunches(b)];
    const again = [await whoLaunches(a), await whoLaunches(b)];

    expect(ofA.id).not.toBe(ofB.id);
    expect(again.map(({ id }) => id)).toEqual([ofA.id, ofB.id]);
  });

  test('a course is two courses with a folder each, and none sees what is in the other', async () => {
    const { a, b } = twins;
    const [ofA, ofB] = [await whoLaunches(a, INSTRUCTOR), await whoLaunches(b, INSTRUCTOR)];
    const folders = await Promise.all([ofA, ofB].map(({ api, launchId }) => api.get(`/lti/launches/${launchId}`)));
    const [folderOfA, folderOfB] = folders.map(({ body }) => body.folder.id);
    const { id } = (await ofA.api.upload('/files', { name: 'A.txt', file: Buffer.from('a'), fields: { folder_id: folderOfA } }))
      .body;

    expect(folderOfA).not.toBe(folderOfB);
    expect([(await ofA.api.get(`/files/${id}`)).status, (await ofB.api.get(`/files/${id}`)).status]).toEqual([200, 404]);
    expect([(await contextOf(ofA.api)).id === (await contextOf(ofB.api)).id, (await contextOf(ofB.api)).lms_id]).toEqual([
      false,
      COURSE.id,
    ]);
  });

  test('a column of the grade book is made at the LMS of the course, with a token of that LMS', async () => {
    const made: unknown[] = [];
    for (const [at, label] of [
      [twins.a, 'Of A'],
      [twins.b, 'Of B'],
    ] as const) {
      const { api } = await whoLaunches(at, INSTRUCTOR);
      const { id } = await contextOf(api);
      made.push((await api.post(`/lti/contexts/${id}/line-items`, { label, score_maximum: 10 })).status);
      const { data } = (await api.get(`/lti/contexts/${id}/line-items`)).body;
      made.push(data.map((item: { label: string }) => item.label).filter((shown: string) => shown.startsWith('Of ')));
    }

    expect(made).toEqual([201, ['Of A'], 201, ['Of B']]);
    expect([twins.a.lms.tokens.refusals, twins.b.lms.tokens.refusals]).toEqual([[], []]);
  });

  test('a link that is placed through one opens there, and is foreign to the other', async () => {
    const { a, b } = twins;
    const picker = await picking(tenant, a, { accept_multiple: 'false' }, { user: { id: '1' }, course: COURSE });
    const file = (await picker.api.upload('/files', { name: 'Reading.txt', file: Buffer.from('x') })).body.id;
    const { items } = await delivered(a, await picker.answer([{ type: 'ltiResourceLink', file_id: file }]));
    const custom = { ...items[0]?.custom };
    const opens = (at: Registration, role = LEARNER) =>
      opensLink(tenant, at, { user: { id: '2' }, roles: [role], course: COURSE, custom, resourceLinkId: '3' });

    const [here, there, again] = [await opens(a), await opens(b, INSTRUCTOR), await opens(b, INSTRUCTOR)];

    expect([a.lms.deepLinks.wrong, here.link.file?.id]).toEqual([[], file]);
    expect([there, again].map(({ link }) => [link.file, link.problem?.code])).toEqual([
      [null, 'target_foreign'],
      [null, 'target_foreign'],
    ]);
    expect((await there.api.get(`/files/${file}`)).status).toBe(404);
    expect(await tenant.db.query('SELECT FROM lti_course_copies')).toEqual([]);
  });

  test('a notice is that of the LMS whose deployment it names, and the other’s key does not prove it', async () => {
    const { a, b } = twins;
    const type = 'LtiContextCopyNotice';
    const copied = { [`${LTI}/context`]: { id: 'new', title: 'new' }, [`${LTI}/origin_contexts`]: [COURSE.id] };
    const post = (jwt: string) => tenant.anonymous.post(`${tenant.url}/notices`, { notices: [{ jwt }] });

    const taken = await post(b.lms.notice(CLIENT_ID, type, copied));
    const forged = await post(b.lms.notice(CLIENT_ID, type, { ...copied, [`${LTI}/deployment_id`]: OF_A }));
    const unknown = await post(b.lms.notice(CLIENT_ID, type, { ...copied, [`${LTI}/deployment_id`]: 'stranger' }));
    const stored = await tenant.db.query<{ toolId: number }>('SELECT tool_id AS "toolId" FROM lti_notices');

    expect([taken.body.accepted, forged.body.error, unknown.body.error]).toEqual([
      1,
      'signature_invalid',
      'deployment_undecided',
    ]);
    expect(stored).toEqual([{ toolId: b.toolId }]);
    expect(a.toolId).not.toBe(b.toolId);
  });

  test('the frame that is asked for a stored login is that of the LMS that the token names', async () => {
    const origins: (string | undefined)[] = [];
    for (const { lms } of [twins.a, twins.b]) {
      const begun = await new Browser().get(lms.open(CLIENT_ID, { storageTarget: 'keeper' }));
      const next = /data-next="([^"]*)"/.exec(begun.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const answered = await new Browser().get(next);
      const field = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(answered.text)?.[1] ?? '';
      const asked = await new Browser().post(
        `${tenant.url}/launch`,
        new URLSearchParams({ state: field('state'), id_token: field('id_token') }),
      );
      origins.push(/data-origin="([^"]*)"/.exec(asked.text)?.[1]);
    }

    expect(origins).toEqual([twins.a.lms.base, twins.b.lms.base]);
  });
});

test('a warm launch takes no more statements beside a second LMS', async () => {
  const opened = { user: { id: 'warm' }, course: { id: 'warm', title: 'Warm' }, roles: [LEARNER] };
  await launched(tenant, twins.b, opened);
  const browser = new Browser();
  const form = await toTheForm(browser, twins.b.lms.open(CLIENT_ID, opened));
  if ('ended' in form) throw new Error(form.ended.text);
  const before = twins.b.lms.keySetRequests;

  const { reply, sql } = await tenant.counting(() => browser.post(form.action, form.fields));

  expect([reply.status, sql.length, twins.b.lms.keySetRequests - before]).toEqual([303, 1, 0]);
});

test('an administrator admits no deployment that the other LMS’s registration has', async () => {
  const at = await registeredBy(tenant, 'canvas-b', twins.b.lms, {
    clientId: CLIENT_ID,
    deploymentId: OF_B,
    deploymentPolicy: 'Confirm',
  });
  const { uuid } = (await tenant.db.tables.ltiTools.find({ id: at.toolId })) ?? {};
  const decide = (deployment_id: string) =>
    tenant.admin.post(`/lti/registrations/${uuid}/deployments`, { deployment_id, status: 'admitted' });

  const [taken, free] = [await decide(OF_A), await decide('5:new')];
  const launch = await open(twins.b, {
    login: (p) => p.set('lti_deployment_id', '5:new'),
    claims: (all) => void (all[`${LTI}/deployment_id`] = '5:new'),
  });
  await registeredBy(tenant, 'canvas-b', twins.b.lms, { clientId: CLIENT_ID, deploymentId: OF_B });

  expect([taken.status, taken.body.error, free.status, launch.status]).toEqual([409, 'conflict', 200, 303]);
});

test('two that register themselves stand side by side, once a person has said which deployments are whose', async () => {
  const desks: RegistrationDesk[] = [];
  const pages: string[] = [];
  for (const deploymentId of ['5:first', '5:second']) {
    const lms = await startCanvas();
    const desk = new RegistrationDesk(lms, FACES.canvas);
    desk.next = { clientId: '10000000000042', deploymentId };
    lms.tokens.audience = FACES.canvas.authorizationServer(lms.base);
    const page = await registered(tenant, desk, await newLink(tenant));
    if (page.status !== 200 || !desk.tools[0]) throw new Error(`it was not registered: ${page.code} ${page.text}`);
    desk.activate(desk.tools[0]);
    desks.push(desk);
    pages.push(page.text);
  }
  const resources = await resourcesOf(tenant);
  const [first, second] = resources;
  if (!first || !second) throw new Error(`there are ${resources.length} registrations`);

  const untold = [await applied(tenant, first, resources), await applied(tenant, second, resources)];
  const listing = resources.map((resource, index) => ({
    ...resource,
    spec: { ...resource.spec, deploymentIds: [desks[index]?.tools[0]?.deploymentId ?? ''] },
  }));
  const conflicts: unknown[] = [];
  for (const resource of listing) conflicts.push(await applied(tenant, resource, listing));
  const launches = await Promise.all(desks.map(({ lms }) => follow(new Browser(), lms.open('10000000000042'))));
  const { data } = (await tenant.admin.get('/lti/registrations', { query: { limit: '200' } })).body;
  const shown = data.filter(({ client_id }: { client_id: string }) => client_id === '10000000000042');
  await Promise.all(desks.map(({ lms }) => lms.stop()));

  const [alone, shared] = ['is refused as deployment_waiting', 'Another LMS with this issuer gave the same client id'];
  expect(pages.map((text) => [text.includes(alone), text.includes(shared)])).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(untold).toEqual([undefined, expect.stringContaining('List the deployments of each in its spec.deploymentIds')]);
  expect([conflicts, launches.map(({ status }) => status)]).toEqual([
    [undefined, undefined],
    [303, 303],
  ]);
  expect(shown.map(({ registered: agreed }: { registered: { product: string } }) => agreed.product)).toEqual([
    'canvas',
    'canvas',
  ]);
  expect(await requestsOf(tenant)).toHaveLength(2);
});

test('registrations of one LMS with client ids of their own share its people', async () => {
  const other = await registeredLms(tenant, twins.a);
  const [ofA, same] = [await whoLaunches(twins.a), await whoLaunches(other)];

  expect([same.id, other.platformId]).toEqual([ofA.id, twins.a.platformId]);
});
