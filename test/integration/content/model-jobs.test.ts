import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { runBesideModel } from '../../support/models/content-model/run.ts';
import { choicesWithJobs } from '../../support/models/content-model/steps.ts';
import { waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { faultsOf } from './tenant-state.ts';

/** A batch takes a worker some 100 ms, an import 200 ms for its process, so there are fewer steps than in model.test.ts. */
const STEPS = Number(process.env['STEPS'] ?? 2_000) / 10;
const SEED = Number(process.env['SEED'] ?? 1);
const STEPS_OF_RUN = 200;

const { platform } = workerSuite();
const tenant = platformTenant(platform);

test('whatever three people do with files, grants, the trash, batches and imports, jobs end as the rules say', async () => {
  const sequences = fc.array(choicesWithJobs, { minLength: STEPS_OF_RUN, maxLength: STEPS_OF_RUN });
  await fc.assert(
    fc.asyncProperty(sequences, (sequence) => runBesideModel(tenant, sequence)),
    {
      numRuns: Math.ceil(STEPS / STEPS_OF_RUN),
      seed: SEED,
      endOnFailure: true,
    },
  );
  const purging = () => tenant.db.query("SELECT FROM carrel.work WHERE kind = 'objects.purge'");
  await waitFor('the purge of objects', async () => (await purging()).length === 0);
  expect(await faultsOf(tenant)).toEqual([]);
});
