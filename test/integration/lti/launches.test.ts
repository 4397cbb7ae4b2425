import { expect, test } from '@jest/globals';
import type { Page } from '../../../pkg/api/paging.ts';
import type { LaunchView } from '../../../pkg/lti/launch/launch-view.schema.ts';
import type { Api } from '../../support/clients/api.ts';
import { LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { rosterCourse } from '../../support/clients/rosters.ts';
import { startTenant } from '../../support/programs/server.ts';

const { tenant, at } = lmsSuite();
const course = () => rosterCourse(tenant, at);

async function idsOf(by: Api, query: Record<string, string> = {}): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { data, pagination }: Page<LaunchView> = (
      await by.get('/lti/launches', { query: { ...query, ...(cursor === undefined ? {} : { cursor }) } })
    ).body;
    found.push(...data.map(({ launch_id }) => launch_id));
    cursor = pagination.next_cursor;
  }
  return found;
}

test('an instructor lists the launches of their courses, newest first, each as GET shows it, in one statement', async () => {
  const { api, launch, id } = await course();
  const first = await launch({ user: { id: 'ben' }, roles: [LEARNER], returnUrl: 'https://lms.example.org/secret' });
  const second = await launch({ user: { id: 'ben' }, roles: [LEARNER] });
  const foreign = await launched(tenant, at, { course: { id: 'foreign', title: 'Foreign' } });
  await api.get('/lti/launches');

  const { reply, sql } = await tenant.counting(() => api.get('/lti/launches'));

  const ids = reply.body.data.map(({ launch_id }: LaunchView) => launch_id);
  expect(ids.slice(0, 2)).toEqual([second.launchId, first.launchId]);
  expect(ids).toHaveLength(3);
  expect(reply.body.data[1]).toEqual((await api.get(`/lti/launches/${first.launchId}`)).body);
  expect(reply.body.data[1].return_url).toBeNull();
  expect(sql).toHaveLength(1);
  expect(await idsOf(api, { context_id: id, limit: '1' })).toEqual(ids);
  expect(await idsOf(tenant.admin, { limit: '2' })).toEqual(expect.arrayContaining([...ids, foreign.launchId]));
});

test('a launch names its course to instructors and administrators; for learners, and without one, it is null', async () => {
  const { api, id, launch } = await course();
  const learner = await launch({ user: { id: 'ada-the-learner' }, roles: [LEARNER] });
  const elsewhere = await course();
  // A teacher of another course is a learner in this one all the same.
  const colleague = await launch({ user: { id: elsewhere.teacher }, roles: [LEARNER] });
  const alone = await launched(tenant, at, { course: null });
  const shown = async (by: Api, launchId: string): Promise<string | null> =>
    (await by.get(`/lti/launches/${launchId}`)).body.course_id;

  expect([await shown(api, learner.launchId), await shown(tenant.admin, learner.launchId)]).toEqual([id, id]);
  expect([await shown(learner.api, learner.launchId), await shown(colleague.api, colleague.launchId)]).toEqual([null, null]);
  expect([await shown(alone.api, alone.launchId), await shown(tenant.admin, alone.launchId)]).toEqual([null, null]);
});

test('launches are listed of a course, of a person and of a time', async () => {
  const [one, other] = [await course(), await course()];
  const ben = await one.launch({ user: { id: 'ben-of-two' }, roles: [LEARNER] });
  const elsewhere = await other.launch({ user: { id: 'ben-of-two' }, roles: [LEARNER] });
  const { user, launched_at } = (await ben.api.get(`/lti/launches/${ben.launchId}`)).body;
  const of = (query: Record<string, string>) => idsOf(tenant.admin, query);

  expect(await of({ user_id: user.id, sort: 'launched_at' })).toEqual([ben.launchId, elsewhere.launchId]);
  expect(await of({ user_id: user.id, context_id: one.id })).toEqual([ben.launchId]);
  expect(await of({ user_id: user.id, before: launched_at })).toEqual([]);
  expect(await of({ user_id: user.id, after: launched_at })).toEqual([elsewhere.launchId]);
  expect(await idsOf(one.api, { user_id: user.id })).toEqual([ben.launchId]);
  expect((await tenant.admin.get('/lti/launches', { query: { after: 'yesterday' } })).status).toBe(400);
});

test('learners list no launches, and nobody those of another tenant', async () => {
  const { launch, id } = await course();
  const { api } = await launch({ user: { id: 'dan' }, roles: [LEARNER] });
  const other = await startTenant();
  try {
    expect((await api.get('/lti/launches')).status).toBe(403);
    expect((await other.admin.get('/lti/launches', { query: { context_id: id } })).body.data).toEqual([]);
  } finally {
    await other.stop();
  }
});
