import { expect } from '@jest/globals';
import type { TestTenant } from '../../programs/server.ts';
import { range, waitFor } from '../../wait.ts';
import { ContentModel } from './content-model.ts';
import { type Choice, type Person, stepOf, take } from './steps.ts';
import { contentsOf, viewsOf } from './views.ts';

const STEPS_BETWEEN_LOOKS = 25;
const QUOTA = 2_500;

/** Waits until no quota is reserved. If some stays reserved, throws with its reservations and the jobs that would release it. */
async function released({ db }: TestTenant): Promise<void> {
  const reserved = () => db.query('SELECT id, bytes, expires_at FROM storage_reservations');
  try {
    await waitFor('the release of what is reserved', async () => (await reserved()).length === 0);
  } catch (error) {
    const jobs = await db.query(
      'SELECT kind, attempts, due_at, leased_until, last_error FROM carrel.work ORDER BY id DESC LIMIT 20',
    );
    const tasks = await db.query('SELECT * FROM tasks ORDER BY id DESC LIMIT 3');
    throw new Error(JSON.stringify({ reserved: await reserved(), jobs, tasks }), { cause: error });
  }
}

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
    if (step.reserves) await released(tenant);
    if (at % STEPS_BETWEEN_LOOKS === 0) await compare();
  }
  await compare();
  const { served, modelled } = await contentsOf(model, people);
  expect({ history, served }).toEqual({ history, served: modelled });
}
