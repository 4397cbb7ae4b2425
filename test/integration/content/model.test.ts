import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { runBesideModel } from '../../support/models/content-model/run.ts';
import { choices } from '../../support/models/content-model/steps.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { faultsOf } from './tenant-state.ts';

const STEPS = Number(process.env['STEPS'] ?? 2_000);
const SEED = Number(process.env['SEED'] ?? 1);
const STEPS_OF_RUN = 500;
/** 20,000 steps take more than ten minutes on a busy machine. */
const LIMIT_MS = 60_000 + STEPS * 100;

const tenant = serverSuite();

test(
  'whatever three people do with files, versions, grants and the trash, requests and lists follow the rules',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(choices, { minLength: STEPS_OF_RUN, maxLength: STEPS_OF_RUN }), (sequence) =>
        runBesideModel(tenant, sequence),
      ),
      {
        numRuns: Math.ceil(STEPS / STEPS_OF_RUN),
        seed: SEED,
        endOnFailure: true,
      },
    );
    expect(await faultsOf(tenant)).toEqual([]);
  },
  LIMIT_MS,
);
