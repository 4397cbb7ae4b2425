import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { jobEnd } from '../../support/clients/batches.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { type HoldingWay, holdingWay, isDeletion, isPut } from '../../support/fakes/holding-way.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';
import { waitFor } from '../../support/wait.ts';
import { faultsOf, objectCount } from '../content/tenant-state.ts';

const { platform } = workerSuite();

const IMPORTS = "SELECT FROM carrel.work WHERE kind = 'tasks.import'";

let deletions = 0;
const way: HoldingWay = fixture(
  () =>
    holdingWay(new URL(platform.stores.s3.endpoint), (request) => {
      if (isDeletion(request)) deletions += 1;
      return isPut(request);
    }),
  async (running) => running.close(),
);

/** A tenant whose store the worker reaches by the way that holds contents. */
async function held(): Promise<TestTenant> {
  const tenant = await platform.tenant();
  const { config } = tenant;
  const location = { endpoint: way.url, bucket: config.CARREL_S3_BUCKET, prefix: '' };
  const access = {
    ...location,
    region: config.CARREL_S3_REGION,
    accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
    guarded: 'false',
    marker: `tenant ${tenant.tenantId} of a test`,
  };
  await platform.registryOn(platform.pool).setStorage(tenant.tenantId, { ...location, isOwn: true }, JSON.stringify(access));
  return tenant;
}

/** Lets the store go on after a worker that deletes at once has done so. */
async function releaseLate(): Promise<void> {
  await Promise.race([waitFor('a deletion', () => deletions > 0), pause(1_500)]);
  await way.release();
}

test('an archive that is refused while the store makes objects of its first contents leaves nothing', async () => {
  const tenant = await held();
  const { api } = await tenant.user();
  const before = await objectCount(tenant);
  deletions = 0;
  const archive = zipBytes([
    { name: 'one.txt', content: 'one' },
    { name: 'two.txt', content: 'two' },
    // Its reader finds the fault while the others are on their way.
    { name: 'bad.txt', content: 'three', central: { crc: 1 }, local: { crc: 1 } },
  ]);
  const { body } = await api.upload('/imports', { name: 'a.zip', file: archive });
  await waitFor('the contents on their way', () => way.held === 2);

  await releaseLate();

  const end = await jobEnd(api, body.id);
  expect([end.state, end.error?.code]).toEqual(['failed', 'archive_refused']);
  await waitFor('what was stored to go', async () => (await objectCount(tenant)) === before);
  expect(await faultsOf(tenant)).toEqual([]);
});

test('an import that is canceled while the store makes objects of its contents leaves nothing', async () => {
  const tenant = await held();
  const { api } = await tenant.user();
  const before = await objectCount(tenant);
  deletions = 0;
  const archive = zipBytes([
    { name: 'one.txt', content: 'one' },
    { name: 'two.txt', content: 'two' },
  ]);
  const { body } = await api.upload('/imports', { name: 'a.zip', file: archive });
  await waitFor('the contents on their way', () => way.held === 2);

  expect((await api.post(`/jobs/${body.id}/cancel`)).status).toBe(202);
  await releaseLate();

  await waitFor('the worker to be idle', async () => (await tenant.db.query(IMPORTS)).length === 0);
  await waitFor('what was stored to go', async () => (await objectCount(tenant)) === before);
  expect(await faultsOf(tenant)).toEqual([]);
});
