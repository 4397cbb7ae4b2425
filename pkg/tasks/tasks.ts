import type { Feature } from '../feature/feature.ts';
import type { TaskKind } from './task-kind.ts';
import { taskEndpoints } from './tasks.endpoints.ts';
import { TaskFollowers } from './task-followers.ts';
import { TaskRequests } from './task-requests.ts';
import { Tasks } from './tasks.service.ts';

/** Work that people request and that takes longer than a request, at /jobs. `kinds` are those that can be retried. */
export const tasksFeature = (kinds: readonly TaskKind[]): Feature => ({
  name: 'tasks',
  create: (services) => ({
    endpoints: taskEndpoints(
      new Tasks({ ...services, kinds, requests: new TaskRequests(services) }),
      new TaskFollowers(services),
    ),
    // Deletes tasks before other features delete content: a step of a running task locks the task first, then content and quota.
    onUserRemoved: async (tx, { id }) => void (await tx.query('DELETE FROM tasks WHERE user_id = $1', [id])),
  }),
});
