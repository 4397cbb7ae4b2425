import { expect } from '@jest/globals';
import type { TestTenant } from '../server.ts';
import { range, waitFor } from '../wait.ts';
import { ContentModel } from './content-model.ts';
import { type Choice, type Person, stepOf, take } from './steps.ts';
import { contentsOf, viewsOf } from './views.ts';

const STEPS_BETWEEN_LOOKS = 25;
const QUOTA = 2_500;

const isReserved = async ({ db }: TestTenant): Promise<boolean> =>
  (await db.query('SELECT FROM storage_reservations')).length > 0;

/**
 * Three people of a tenant do what the choices say; each answer, and now and then each list and sum, must be as the model says.
 */
export async function runBesideModel(tenant: TestTenant, sequence: readonly Choice[]): Promise<void> {
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
    if (step.reserves) await waitFor('the release of what is reserved', async () => !(await isReserved(tenant)));
    if (at % STEPS_BETWEEN_LOOKS === 0) await compare();
  }
  await compare();
  const { served, modelled } = await contentsOf(model, people);
  expect({ history, served }).toEqual({ history, served: modelled });
}
