import { expect, test } from '@jest/globals';
import { testFixture } from '../../support/suites/fixture.ts';
import { startHelper } from '../../support/fakes/helpers/helper.ts';
import { pdf } from '../../support/fakes/helpers/pdf.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { configure, endOf, stateOf, upload } from './pdf-suite.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
const helper = testFixture(startHelper, (running) => running.close());

test.each([
  ['before the reply', 'hangs before the reply'],
  ['in the reply', 'hangs in the reply'],
] as const)('a worker that is killed %s has made nothing, and another one makes one version of it', async (_when, fault) => {
  const { api, user } = await tenant.user();
  await configure(tenant, helper);
  const id = await upload(api, pdf({ padding: 100_000 }));
  const before = await stateOf(tenant, user.id);
  await helper.fail(fault, 1);
  const { body: job } = await api.post(`/files/${id}/optimize`, {});
  await waitFor('the helper to be asked', () => helper.received.length === 1);

  await worker.end('SIGKILL');
  expect(await stateOf(tenant, user.id)).toEqual(before);
  await worker.start();

  expect(await endOf(api, job.id)).toMatchObject({
    state: 'succeeded',
    progress: { done: 1, total: 1 },
    result: { version_number: 2 },
  });
  expect(helper.received.length).toBe(2);
  const { data } = (await api.get(`/files/${id}/versions`)).body;
  expect(data.map((version: Record<string, unknown>) => version['version_number'])).toEqual([2, 1]);
  expect(await stateOf(tenant, user.id)).toMatchObject({ reservations: 0, faults: [] });
});
