import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ContentModel } from '../../support/content-model/content-model.ts';
import { type Choice, choices, type Person, stepOf, take } from '../../support/content-model/steps.ts';
import { contentsOf, viewsOf } from '../../support/content-model/views.ts';
import { serverSuite } from '../../support/server-suite.ts';
import { range } from '../../support/wait.ts';
import { faultsOf } from './tenant-state.ts';

const STEPS = Number(process.env['STEPS'] ?? 2_000);
const SEED = Number(process.env['SEED'] ?? 1);
const STEPS_OF_RUN = 500;
const STEPS_BETWEEN_LOOKS = 25;
const QUOTA = 2_500;

const tenant = serverSuite();

async function run(sequence: readonly Choice[]): Promise<void> {
  const model = new ContentModel(QUOTA);
  const people: Person[] = await Promise.all(
    range(3).map(async () => {
      const { api, user } = await tenant.user({ storage_quota: QUOTA });
      return { id: user.id, api };
    }),
  );
  const history: string[] = [];
  const compare = async (): Promise<void> => {
    for (const actor of range(people.length)) {
      const { served, modelled } = await viewsOf(model, people, actor);
      expect({ history, actor, ...(served as object) }).toEqual({ history, actor, ...(modelled as object) });
    }
  };
  for (const [at, choice] of sequence.entries()) {
    const step = stepOf(model, people, choice);
    if (!step) continue;
    history.push(`${step.actor} ${step.says}`);
    const difference = await take(step, people[step.actor] as Person);
    if (difference !== null) throw new Error(`${history.join('\n')}\n${difference}`);
    if (at % STEPS_BETWEEN_LOOKS === 0) await compare();
  }
  await compare();
  const { served, modelled } = await contentsOf(model, people);
  expect({ history, served }).toEqual({ history, served: modelled });
}

test('whatever three people do with files, folders, versions, grants and the trash, each request and each list is as the rules say', async () => {
  await fc.assert(fc.asyncProperty(fc.array(choices, { minLength: STEPS_OF_RUN, maxLength: STEPS_OF_RUN }), run), {
    numRuns: Math.ceil(STEPS / STEPS_OF_RUN),
    seed: SEED,
    endOnFailure: true,
  });
  expect(await faultsOf(tenant)).toEqual([]);
});
