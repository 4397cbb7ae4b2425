import { expect, test } from '@jest/globals';
import { fixture } from '../../support/suites/fixture.ts';
import { LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { Lms } from '../../../pkg/local/demo/lms/lms.ts';
import { registeredBy } from '../../support/lms/registration.ts';
import { ended } from '../../support/clients/rosters.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const CLIENT_ID = '10000000000001';
const COURSE = { id: '7', title: 'Biology' };

const { platform } = workerSuite();
const tenant = platformTenant(platform);

/** Two Canvas instances with one issuer and one client id, whose course, link and people have the same ids. */
const twins = fixture(
  async () => {
    const start = async (name: string, deploymentId: string) => {
      const lms = await Lms.start('https://canvas.instructure.com');
      lms.sendsDeployment = true;
      const at = await registeredBy(tenant, name, lms, { clientId: CLIENT_ID, deploymentId });
      const somebody = await launched(tenant, at, { user: { id: '1' }, course: COURSE });
      for (const id of ['2', name]) lms.courses.enrol(COURSE, { user_id: id, name: `${id} of ${name}`, roles: [LEARNER] });
      return { at, lms, ...somebody };
    };
    return [await start('canvas-a', '5:a'), await start('canvas-b', '5:b')] as const;
  },
  (all) => Promise.all(all.map(({ lms }) => lms.stop())),
);

test('grades of both at once go each to its own LMS, with a token of that LMS', async () => {
  const given = await Promise.all(
    twins.map(async ({ api, grades }, index) => {
      const reply = await api.post(grades, { user_id: '2', score: index + 1, score_maximum: 10 });
      if (reply.status !== 201) throw new Error(`the grade was not taken: ${reply.status} ${JSON.stringify(reply.body)}`);
      return { api, path: `${grades}/${reply.body.id}` };
    }),
  );
  for (const { api, path } of given)
    await waitFor('the grade at the LMS', async () => (await api.get(path)).body.status === 'submitted');

  expect(twins.map(({ lms }) => [lms.scores.cell('2')?.scoreGiven, lms.scores.received.length, lms.tokens.refusals])).toEqual([
    [1, 1, []],
    [2, 1, []],
  ]);
});

test('rosters of both at once are taken over each into its own course', async () => {
  const names = await Promise.all(
    twins.map(async ({ api }) => {
      const { id } = (await api.get('/lti/contexts')).body.data[0];
      const job = (await api.post(`/lti/contexts/${id}/members/sync`)).body;
      const { state } = await ended(api, job.id);
      const { data } = (await api.get(`/lti/contexts/${id}/members`)).body;
      return [state, data.flatMap(({ name }: { name: string | null }) => name ?? [])];
    }),
  );

  expect(names).toEqual([
    ['succeeded', ['2 of canvas-a', 'canvas-a of canvas-a']],
    ['succeeded', ['2 of canvas-b', 'canvas-b of canvas-b']],
  ]);
});
