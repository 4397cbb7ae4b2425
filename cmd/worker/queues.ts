import type { QueueSettings } from '../../pkg/events/processor.ts';
import { DEFAULT_QUEUE, NAMED_STORES_QUEUE } from '../../pkg/store/postgres/job-store.ts';
import { HELPER_QUEUE } from '../../pkg/helper-services/pdf/pdf-tasks.ts';
import { ROSTER_QUEUE } from '../../pkg/tasks/roster-tasks.ts';
import { TASK_QUEUE } from '../../pkg/tasks/task-kind.ts';
import { MINUTE_MS } from '../../pkg/runtime/time.ts';

/**
 * The queues of carrel.work: how many jobs of one tenant, and of all tenants, a worker runs at once, and how long an attempt may
 * take. A job declares its queue by name. Deliveries have a queue of their own: pkg/webhooks/delivery/delivery.queue.ts.
 */
export const QUEUES: readonly QueueSettings[] = [
  // Jobs that need only our own stores.
  { name: DEFAULT_QUEUE, perTenant: 4, concurrency: 16, timeLimitMs: 30 * MINUTE_MS },
  // Jobs of other queues that turn out to use a store that a tenant named. A stalled store of a tenant then holds no slot that
  // other tenants wait for.
  { name: NAMED_STORES_QUEUE, perTenant: 2, concurrency: 64, timeLimitMs: 60 * MINUTE_MS },
  // A stalled LMS holds a slot until its time-out, so there are many slots, and one tenant gets few.
  { name: 'grades', perTenant: 4, concurrency: 512, timeLimitMs: 5 * MINUTE_MS },
  // A stalled LMS holds a slot here too. The process bounds the pages of rosters that its jobs hold.
  { name: ROSTER_QUEUE, perTenant: 2, concurrency: 16, timeLimitMs: 20 * MINUTE_MS },
  // A stalled helper service holds a slot for minutes. One tenant gets few slots, and the process bounds the PDFs that its jobs
  // hold.
  { name: HELPER_QUEUE, perTenant: 2, concurrency: 64, timeLimitMs: 20 * MINUTE_MS },
  // Jobs of people may take minutes, so purges and caches do not wait behind them. A step copies at most one large object.
  { name: TASK_QUEUE, perTenant: 4, concurrency: 16, timeLimitMs: 120 * MINUTE_MS },
];
