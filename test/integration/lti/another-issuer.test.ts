import { expect, test } from '@jest/globals';
import { requireUnused } from '../../../pkg/lti/launch/launch.sql.ts';
import { CONTEXT_COPY, HELLO } from '../../../pkg/lti/notices/notice-types.ts';
import { storeNotices, type VerifiedNotice } from '../../../pkg/lti/notices/notices.sql.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { INSTRUCTOR, LEARNER, LTI } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { changedTo, registeredLms, type Registration } from '../../support/lms/registration.ts';

const { tenant, at: shared } = lmsSuite();
/** Another LMS, whose courses, links and people have the same ids as those of the first. */
const otherLms = fixture(
  () => Lms.start(),
  (running) => running.stop(),
);

const COURSE = { id: '2', title: 'Biology' };
const opens = (at: Registration, custom: Record<string, string>) =>
  opensLink(tenant, at, { user: { id: systemRandom.hex(5) }, roles: [LEARNER], course: COURSE, custom, resourceLinkId: '7' });

/** A registration with a placed link that has been opened, so that it is recorded. */
async function withRecordedLink() {
  const at = await registeredLms(tenant, shared);
  const teacher = await launched(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course: COURSE });
  const file = (await teacher.api.upload('/files', { name: `${systemRandom.hex(5)}.txt`, file: Buffer.from('x') })).body
    .id as string;
  const custom = await placedFor(tenant, at, teacher, file);
  const learner = await opens(at, custom);
  if (learner.link.file?.id !== file) throw new Error(`the link does not open: ${JSON.stringify(learner.link)}`);
  return { at, teacher, learner, file, custom };
}

const FOREIGN = { file: null, problem: { code: 'target_foreign' } };
const count = async (table: string, { toolId }: Registration): Promise<number> =>
  (await tenant.db.query(`SELECT FROM ${table} WHERE tool_id = $1`, [toolId])).length;

test('a link that was recorded with one client id opens nothing for another, and its file again with the first', async () => {
  const { at, learner, file, custom } = await withRecordedLink();

  const renamed = await changedTo(tenant, at, { clientId: `${at.clientId}-2` });
  const downloads = [(await learner.api.get(`/files/${file}/download`)).status];
  const stranger = await opens(renamed, custom);
  downloads.push((await stranger.api.get(`/files/${file}/download`)).status);
  await changedTo(tenant, at, {});
  const again = await opens(at, custom);

  expect(stranger.link).toMatchObject(FOREIGN);
  expect(downloads).toEqual([404, 404]);
  expect(again.link).toMatchObject({ file: { id: file }, problem: null });
});

test('a link recorded under one issuer opens nothing under another, though course and link have the same ids', async () => {
  const { at, learner, file, custom } = await withRecordedLink();

  const there = await changedTo(tenant, at, { lms: otherLms });
  const stranger = await opens(there, custom);
  const downloads = await Promise.all([learner, stranger].map(({ api }) => api.get(`/files/${file}/download`)));
  await changedTo(tenant, at, {});
  const again = await opens(at, custom);

  expect(stranger.link).toMatchObject(FOREIGN);
  expect(downloads.map(({ status }) => status)).toEqual([404, 404]);
  expect(again.link).toMatchObject({ file: { id: file }, problem: null });
});

test('the former LMS is asked nothing with a token of the new one', async () => {
  const at = await registeredLms(tenant, shared);
  const course = { id: `items-${systemRandom.hex(5)}`, title: 'Items' };
  const teacher = await launched(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course });
  const { data } = (await teacher.api.get('/lti/contexts')).body as { data: { id: string; lms_id: string }[] };
  const items = `/lti/contexts/${data.find(({ lms_id }) => lms_id === course.id)?.id}/line-items`;
  const [item] = (await teacher.api.get(items)).body.data;
  const before = shared.lms.lineItems.received.length;

  await changedTo(tenant, at, { lms: otherLms });
  const replies = [
    await teacher.api.get(items),
    await teacher.api.get(`${items}/${item.id}`),
    await teacher.api.get(`${items}/${item.id}/results`),
    await teacher.api.post(`${items}/${item.id}/scores`, { user_id: 'ada', score: 1, score_maximum: 1 }),
  ];

  expect(replies.map(({ status, body }) => [status, body.error?.code ?? body.error])).toEqual(
    replies.map(() => [409, 'registration_inactive']),
  );
  expect(shared.lms.lineItems.received.length).toBe(before);
});

test('notices and addresses for them count for the LMS alone that they were verified for', async () => {
  const at = await registeredLms(tenant, shared);
  const notices = [
    {
      jwt: shared.lms.notice(at.clientId, CONTEXT_COPY, {
        [`${LTI}/context`]: { id: 'copy' },
        [`${LTI}/origin_contexts`]: [COURSE.id],
      }),
    },
  ];
  const { status } = await tenant.anonymous.post(`${tenant.url}/notices`, { notices });
  await tenant.db.query('INSERT INTO lti_notice_handlers (tool_id, deployment_id, service_url) VALUES ($1, $2, $3)', [
    at.toolId,
    '1',
    'https://lms.example.org/notices',
  ]);
  const before = [await count('lti_notices', at), await count('lti_notice_handlers', at)];

  await changedTo(tenant, at, { lms: otherLms });
  const after = [await count('lti_notices', at), await count('lti_notice_handlers', at)];
  // Verified a moment before the change, stored after it.
  const late: VerifiedNotice = {
    id: 'late',
    type: HELLO,
    deploymentId: '1',
    contextId: null,
    origins: [],
    noticedAt: null,
    by: at,
  };
  await storeNotices(tenant.db.tables, [late]);

  expect([status, before, after]).toEqual([200, [1, 1], [0, 0]]);
  expect(await count('lti_notices', at)).toBe(0);
});

test('a launch that was verified before its registration came to name another LMS is refused', async () => {
  const at = await registeredLms(tenant, shared);
  const by = { toolId: at.toolId, platformId: at.platformId, issuer: shared.lms.issuer, clientId: at.clientId, jwksEndpoint: '' };
  const attempt = () => tenant.db.transaction((tx) => requireUnused(tx, { registration: by, state: systemRandom.hex(16) }));

  await attempt();
  await changedTo(tenant, at, { clientId: `${at.clientId}-2` });
  await expect(attempt()).rejects.toMatchObject({ code: 'registration_inactive' });
  await changedTo(tenant, at, { lms: otherLms });
  await expect(attempt()).rejects.toMatchObject({ code: 'registration_inactive' });
});

test('a hand-in stays with the LMS that it was handed in at, also of a person whom both know', async () => {
  const at = await registeredLms(tenant, shared);
  const essay = { roles: [LEARNER], course: COURSE, resourceLinkId: '9' };
  const pupil = await launched(tenant, at, { ...essay, user: { id: 'pupil' } });
  const file = (await pupil.api.upload('/files', { name: `${systemRandom.hex(5)}.txt`, file: Buffer.from('x') })).body.id;
  const handIn = ({ api, launchId }: typeof pupil) => api.get(`/lti/launches/${launchId}/hand-in`);
  const made = await pupil.api.post(`/lti/launches/${pupil.launchId}/hand-in`, { file_id: file });

  const there = await changedTo(tenant, at, { lms: otherLms });
  await tenant.db.query(
    `INSERT INTO lti_identities (platform_id, subject, user_id) SELECT $2, subject, user_id FROM lti_identities
     WHERE platform_id = $1 AND subject = 'pupil'`,
    [at.platformId, there.platformId],
  );
  const same = await launched(tenant, there, { ...essay, user: { id: 'pupil' } });
  const replies = [await handIn(same)];
  await changedTo(tenant, at, {});
  replies.push(await handIn(await launched(tenant, at, { ...essay, user: { id: 'pupil' } })));

  expect(made.status).toBe(201);
  expect(replies.map(({ status }) => status)).toEqual([404, 200]);
});
