import type { QueueSettings } from '../../pkg/api/processor.ts';
import { TASK_QUEUE } from '../../pkg/tasks/task-kind.ts';

/** The queues of carrel.work, with how many jobs of one tenant, and of all, a worker runs at once. A job declares its queue by name. Deliveries have a queue of their own: pkg/webhooks/delivery/delivery.queue.ts. */
export const QUEUES: readonly QueueSettings[] = [
  // Jobs that need only our own stores.
  { name: 'work', perTenant: 4, concurrency: 16 },
  // A stalled LMS holds a slot until its time-out, so there are many slots, and one tenant gets few.
  { name: 'grades', perTenant: 4, concurrency: 512 },
  // What people request may take minutes, so purges and caches do not wait behind it.
  { name: TASK_QUEUE, perTenant: 4, concurrency: 16 },
];
