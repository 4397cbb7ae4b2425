import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { syncRegistration } from '../../../pkg/lti/registrations/registration.sql.ts';
import { type Face, type FaceName, FACES } from '../../../pkg/local/demo/lms/faces.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { delivered, picking } from '../../support/lms/picked.ts';
import { opensLink } from '../../support/lms/placed.ts';
import { asTheOperator } from '../../support/lms/operator-made.ts';
import { cheapToolKey, type Registration } from '../../support/lms/registration.ts';
import { RegistrationDesk } from '../../support/lms/registration-desk.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { newLink, pressed, registered } from './registering.ts';

const tenant = serverSuite();

/** An LMS of a product, and the tenant's registration there; nothing is set by hand that the LMS could have said. */
interface Connected {
  readonly lms: Lms;
  readonly desk: RegistrationDesk;
  readonly clientId: string;
  readonly at: Registration;
  /** The text of the page at the end. */
  readonly page: string;
}

const registrationAt = async (lms: Lms, clientId: string): Promise<Registration> => {
  const tool = await tenant.db.tables.ltiTools.find({ clientId });
  return { lms, clientId, toolId: tool?.id ?? 0, platformId: tool?.platformId ?? 0, keyId: tool?.keyId ?? '' };
};

/** Registers by the LMS's own page, up to the click of its administrator. */
async function dynamically(lms: Lms, face: Face): Promise<Connected> {
  lms.launchClaims = face.launchClaims;
  const desk = new RegistrationDesk(lms, face);
  lms.tokens.audience = face.authorizationServer?.(lms.issuer) ?? lms.tokenEndpoint;
  const page = await registered(tenant, desk, await newLink(tenant, `LMS ${face.product}`));
  const [tool] = desk.tools;
  if (!tool) throw new Error(`${face.product} was not registered: ${page.status} ${page.code} ${page.text}`);
  await asTheOperator(tenant);
  desk.activate(tool);
  return { lms, desk, clientId: tool.clientId, at: await registrationAt(lms, tool.clientId), page: page.text };
}

/** Registers by the fields of the vendor's portal: one client id, two institutions. */
async function byPortal(lms: Lms, face: Face): Promise<Connected> {
  const clientId = `application-${new URL(lms.issuer).port}`;
  lms.tokens.wantsDeployment = 'campus-a';
  await syncRegistration(
    tenant.rows,
    `test/${clientId}`,
    {
      platform: {
        issuer: lms.issuer,
        authEndpoint: lms.authEndpoint,
        tokenEndpoint: lms.tokenEndpoint,
        jwksEndpoint: lms.jwksEndpoint,
        platformName: null,
        tokenAudience: null,
        frameAncestors: [],
      },
      tool: {
        clientId,
        consumerKey: clientId,
        toolUrl: tenant.url,
        scope: 'openid',
        deepLinkingResponseMode: 'FormPost',
        deploymentPolicy: 'Confirm',
        isActive: true,
      },
      deploymentIds: [],
    },
    { given: undefined, generate: cheapToolKey, period: undefined, now: new Date() },
  );
  lms.register({
    clientId,
    deploymentId: 'campus-a',
    redirectUris: [`${tenant.url}/launch`],
    loginInitiationUrl: `${tenant.url}/login_initiation`,
    targetLinkUri: `${tenant.url}/lti/launch`,
  });
  return { lms, desk: new RegistrationDesk(lms, face), clientId, at: await registrationAt(lms, clientId), page: '' };
}

const shownRegistration = async (clientId: string) =>
  (await tenant.admin.get('/lti/registrations', { query: { limit: '200' } })).body.data.find(
    ({ client_id }: { client_id: string }) => client_id === clientId,
  );

describe.each(Object.entries(FACES) as [FaceName, Face][])('%s', (name, face) => {
  const isDynamic = name !== 'blackboard';
  let connected: Connected;
  beforeAll(async () => {
    const lms = await Lms.start();
    connected = await (isDynamic ? dynamically(lms, face) : byPortal(lms, face));
  });
  afterAll(() => connected?.lms.stop());

  test('it is registered with what it said of itself', async () => {
    const shown = await shownRegistration(connected.clientId);

    expect(shown).toMatchObject({
      issuer: connected.lms.issuer,
      is_active: true,
      managed_by: 'kubernetes',
      public_key_ids: [connected.at.keyId],
    });
    expect(shown.deployment_ids).toEqual(face.namesDeployment ? [connected.desk.tools[0]?.deploymentId] : []);
    expect(shown.deployment_policy).toBe(face.namesDeployment ? 'Listed' : 'Confirm');
    expect(shown.registered?.product ?? null).toBe(isDynamic ? face.product : null);
  });

  test('it sent its token where it wants it, and none where it has none', () => {
    const authorized = connected.desk.requests.map(({ path, authorization }) => [path, authorization !== undefined]);

    const sends = face.token !== 'none';
    expect(authorized).toEqual(
      isDynamic
        ? [
            ['/openid-configuration', sends],
            ['/registrations', sends],
          ]
        : [],
    );
  });

  test('it was asked only for what it has', () => {
    const body = connected.desk.tools[0]?.body;

    const scopes = body?.scope.split(' ') ?? [];
    expect(scopes.filter((scope) => !face.scopes.includes(scope))).toEqual([]);
    expect(scopes).toHaveLength(isDynamic ? face.scopes.length : 0);
  });

  test('what it took is shown, and what is left to do there', async () => {
    const { registered: agreed } = await shownRegistration(connected.clientId);

    const placements: Readonly<Record<FaceName, readonly string[] | undefined>> = {
      moodle: ['LtiResourceLinkRequest', 'LtiDeepLinkingRequest'],
      canvas: [
        'LtiResourceLinkRequest:course_navigation',
        'LtiDeepLinkingRequest:link_selection',
        'LtiDeepLinkingRequest:assignment_selection',
        'LtiDeepLinkingRequest:editor_button',
      ],
      blackboard: undefined,
      brightspace: ['LtiResourceLinkRequest', 'LtiDeepLinkingRequest', 'LtiSubmissionReviewRequest'],
      sakai: [
        'LtiResourceLinkRequest',
        'LtiDeepLinkingRequest:ContentArea',
        'LtiDeepLinkingRequest:RichTextEditor',
        'LtiSubmissionReviewRequest',
      ],
    };
    expect(agreed?.placements).toEqual(placements[name]);
    const words = {
      moodle: 'Activate',
      canvas: 'deployment_waiting',
      blackboard: '',
      brightspace: 'LTI Advantage',
      sakai: 'Approve it',
    };
    expect(connected.page).toContain(words[name]);
  });

  test('a launch of a deployment that it did not name waits until an administrator admits the deployment', async () => {
    const opens = () => follow(new Browser(), connected.lms.open(connected.clientId, { roles: [INSTRUCTOR] }));
    const page = await opens();

    expect([page.status, page.code]).toEqual(face.namesDeployment ? [303, undefined] : [403, 'deployment_waiting']);
    if (face.namesDeployment) return;
    const { id, waiting_deployments } = await shownRegistration(connected.clientId);
    const path = `/lti/registrations/${id}/deployments`;
    const { data } = (await tenant.admin.get(path, { query: { status: 'waiting' } })).body;
    const deploymentId = isDynamic ? connected.desk.tools[0]?.deploymentId : 'campus-a';
    expect(page.text).toContain(`Its id is ${deploymentId}`);
    expect([waiting_deployments, data]).toMatchObject([1, [{ deployment_id: deploymentId, status: 'waiting' }]]);
    // Blackboard has a second institution too.
    for (const admitted of isDynamic ? [deploymentId] : [deploymentId, 'campus-b'])
      await tenant.admin.post(path, { deployment_id: admitted, status: 'admitted' });
    expect((await opens()).status).toBe(303);
  });

  test.each([
    ['an instructor', INSTRUCTOR],
    ['a learner', LEARNER],
  ])('%s launches', async (_who, role) => {
    const { launchId } = await launched(tenant, connected.at, {
      roles: [role],
      course: { id: `course-of-${name}`, title: `Course of ${name}` },
    });

    expect(launchId).toMatch(/^[0-9a-f-]{36}$/);
    expect((await shownRegistration(connected.clientId)).registered?.pending ?? false).toBe(false);
  });

  test('a column of its grade book is made and read with a token for its audience and deployment', async () => {
    const course = { id: `graded-at-${name}`, title: `Graded at ${name}` };
    const { api } = await launched(tenant, connected.at, { course });
    const { data } = (await api.get('/lti/contexts', { query: { limit: '200' } })).body;
    const { id } = data.find(({ lms_id }: { lms_id: string }) => lms_id === course.id);

    const made = await api.post(`/lti/contexts/${id}/line-items`, { label: 'Essay', score_maximum: 10 });
    const listed = await api.get(`/lti/contexts/${id}/line-items`);

    expect([made.status, listed.status, connected.lms.tokens.refusals]).toEqual([201, 200, []]);
    expect(listed.body.data.map(({ label }: { label: string }) => label)).toContain('Essay');
  });

  describe('a file that is picked in its course', () => {
    const course = { id: `linked-at-${name}`, title: `Linked at ${name}` };
    const copy = { id: `copied-at-${name}`, title: `Copied at ${name}` };
    const opens = (where: typeof course, id: string, role = LEARNER) =>
      opensLink(tenant, connected.at, {
        user: { id },
        roles: [role],
        course: where,
        custom,
        resourceLinkId: `link-of-${where.id}`,
      });
    let file: string;
    let custom: Record<string, string> = {};

    test('is returned as a link that the LMS takes', async () => {
      const picker = await picking(tenant, connected.at, { accept_multiple: 'false' }, { user: { id: 'teacher' }, course });
      file = (await picker.api.upload('/files', { name: 'Reading.txt', file: Buffer.from('Read this.') })).body.id;

      const { items, data } = await delivered(connected.at, await picker.answer([{ type: 'ltiResourceLink', file_id: file }]));
      custom = { ...items[0]?.custom };

      expect(connected.lms.deepLinks.wrong).toEqual([]);
      expect([items.length, items[0]?.title, data]).toEqual([1, 'Reading.txt', expect.any(String)]);
    });

    test('opens for a learner of the course, by the link', async () => {
      const { link, api } = await opens(course, 'learner');
      const { status, bytes } = await api.get(`/files/${file}/download`);

      expect([link.file?.name, link.problem, status, bytes.toString()]).toEqual(['Reading.txt', null, 200, 'Read this.']);
    });

    test('opens in a copy of the course once an instructor of both has opened it there, and not before', async () => {
      const early = await opens(copy, 'learner of the copy');
      await opens(copy, 'teacher', INSTRUCTOR);
      const later = await opens(copy, 'learner of the copy');

      expect([early.link.problem?.code, later.link.file?.id]).toEqual(['link_of_other_course', file]);
    });

    test('opens for a learner of a copy at once where the LMS says in its launches what the course is a copy of', async () => {
      const named = { id: `named-at-${name}`, title: `Named at ${name}` };
      connected.lms.courses.copied(course.id, named.id);

      const { link } = await opens(named, 'learner of the named copy');

      expect(link.file?.id ?? link.problem?.code).toBe(name === 'brightspace' ? file : 'link_of_other_course');
    });
  });

  test('results of a column are read with the read-only scope', async () => {
    const course = { id: `results-at-${name}`, title: `Results at ${name}` };
    const { api } = await launched(tenant, connected.at, { course });
    const { data } = (await api.get('/lti/contexts', { query: { limit: '200' } })).body;
    const { id } = data.find(({ lms_id }: { lms_id: string }) => lms_id === course.id);
    const item = (await api.post(`/lti/contexts/${id}/line-items`, { label: 'Report', score_maximum: 5 })).body.id;

    const { status, body } = await api.get(`/lti/contexts/${id}/line-items/${item}/results`);

    expect([status, body.data]).toEqual([200, []]);
  });

  test('a second registration by another link is another tool there', async () => {
    if (!isDynamic) return;
    const page = await registered(tenant, connected.desk);
    await asTheOperator(tenant);

    expect([page.status, connected.desk.tools.length]).toEqual([200, 2]);
  });

  test('a registration with a token that was used is refused in its own manner, and its words are shown', async () => {
    if (!isDynamic) return;
    const { desk } = connected;
    const used = desk.requests[0]?.authorization?.replace('Bearer ', '') ?? 'unexpected';
    const link = new URL(desk.open(await newLink(tenant)));
    link.searchParams.set('registration_token', used);

    const shown = await new Browser().get(link);
    const page = shown.status === 200 ? await pressed(tenant, shown) : shown;

    const refusals: Readonly<Record<FaceName, readonly [string, string]>> = {
      moodle: ['registration_token_refused', 'token_already_used'],
      canvas: ['configuration_refused', 'unauthorized'],
      blackboard: ['', ''],
      brightspace: ['registration_refused', 'no Authorization is expected'],
      sakai: ['registration_token_refused', 'token already used'],
    };
    const [code, words] = refusals[name];
    expect(page.code).toBe(code);
    expect(page.text).toContain(words);
    expect(page.text).not.toContain(used === 'unexpected' ? '\0' : used);
  });
});
