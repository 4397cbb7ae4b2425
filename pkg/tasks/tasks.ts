import type { Feature } from '../feature/feature.ts';
import type { TaskKind } from './task-kind.ts';
import { taskEndpoints } from './tasks.endpoints.ts';
import { TaskFollowers } from './task-followers.ts';
import { TaskRequests } from './task-requests.ts';
import { Tasks } from './tasks.service.ts';

/** What people request that takes longer than a request, at /jobs. `kinds`: those that can be tried again. */
export const tasksFeature = (kinds: readonly TaskKind[]): Feature => ({
  name: 'tasks',
  create: (services) => ({
    endpoints: taskEndpoints(
      new Tasks({ ...services, kinds, requests: new TaskRequests(services) }),
      new TaskFollowers(services),
    ),
    // Before others delete content: a step of a task that is at it holds the task first, then content and quota.
    onUserRemoved: async (tx, { id }) => void (await tx.query('DELETE FROM tasks WHERE user_id = $1', [id])),
  }),
});
