import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { Browser, follow } from '../../support/lms/browser.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';

const { tenant, at } = lmsSuite();

/** A person in the course, and the id of its folder. */
async function inCourse(id: string, role: string): Promise<{ api: Api; folderId: string }> {
  const page = await follow(new Browser(), at.lms.open(at.clientId, { user: { id }, roles: [role] }));
  const token = new URL(String(page.headers.location)).searchParams.get('token') ?? '';
  const { launch_id: launchId } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    launch_id: string;
  };
  const api = tenant.anonymous.as(token);
  const launch = await api.get(`/lti/launches/${launchId}`);
  return { api, folderId: launch.body.folder.id };
}

test('the maker of a folder in a course loses control of it once the LMS says that they no longer teach', async () => {
  const { api: teacher, folderId } = await inCourse('was-teacher', INSTRUCTOR);
  const { api: colleague } = await inCourse('colleague', INSTRUCTOR);
  const made = await teacher.post('/folders', { name: 'Week 1', parent_id: folderId });
  const file = await colleague.upload('/files', {
    file: Buffer.from('theirs'),
    name: 'theirs.txt',
    fields: { folder_id: made.body.id },
  });

  const { api: learner } = await inCourse('was-teacher', LEARNER);
  const upload = await learner.upload('/files', { file: Buffer.from('no'), name: 'no.txt', fields: { folder_id: made.body.id } });

  expect([made.status, file.status]).toEqual([201, 201]);
  expect(upload.status).toBe(403);
  expect((await learner.delete(`/files/${file.body.id}`)).status).toBe(403);
  expect((await learner.get(`/files/${file.body.id}`)).status).toBe(200);
});

test('a copy within a course is the course’s, a copy of its folder the copier’s; learners copy nothing into it', async () => {
  const [{ api: teacher, folderId }, { api: learner }] = [await inCourse('copies', INSTRUCTOR), await inCourse('reads', LEARNER)];
  const week = (await teacher.post('/folders', { name: 'Week 2', parent_id: folderId })).body;
  const copyOf = (by: Api, id: string, body: object) => by.post(`/folders/${id}/copy`, body);

  const replies = [
    await copyOf(teacher, week.id, { name: 'Week 3' }),
    await copyOf(learner, folderId, { name: 'mine' }),
    await copyOf(learner, week.id, { name: 'Week 4' }),
  ];

  expect(replies.map(({ status }) => status)).toEqual([202, 202, 403]);
  const copies = await tenant.db.query<{ name: string; isSystem: boolean; ofSystem: boolean }>(
    `SELECT d.name, d.is_system AS "isSystem", u.is_system AS "ofSystem" FROM folders d JOIN users u ON u.id = d.owner_id
     WHERE d.uuid = ANY ($1::uuid[]) ORDER BY d.id`,
    [replies.flatMap(({ body }) => (body.result ? [body.result.folder_id] : []))],
  );
  expect(copies).toEqual([
    { name: 'Week 3', isSystem: false, ofSystem: true },
    { name: 'mine', isSystem: false, ofSystem: false },
  ]);
});

test('administrators get no access to a course’s folder; its instructors create folders there, also by password', async () => {
  const { folderId } = await inCourse('teacher', INSTRUCTOR);
  const { api, user } = await tenant.user({ roles: ['admin'] });
  const make = (by: Api, name: string) => by.post('/folders', { name, parent_id: folderId });
  const before = [await make(api, 'Before'), await api.get(`/folders/${folderId}`)];

  await tenant.db.query(
    `INSERT INTO lti_identities (platform_id, subject, user_id) SELECT $1, 'administrator', id FROM users WHERE uuid = $2`,
    [at.platformId, user.id],
  );
  const launched = await inCourse('administrator', INSTRUCTOR);
  const after = [await make(launched.api, 'By the launch'), await make(api, 'By password')];

  expect(before.map(({ status }) => status)).toEqual([404, 404]);
  expect(after.map(({ status }) => status)).toEqual([201, 201]);
});
