import type { Feature } from '../feature/feature.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import { scheduleEndpoints } from './schedules.endpoints.ts';
import { Schedules } from './schedules.service.ts';

/**
 * Runs a tenant's work at times that its administrators choose, at /schedules. The worker begins the runs (tick.processor.ts).
 */
export const schedules: Feature = {
  name: 'schedules',
  create: (services) => {
    const { appUrl } = services.addresses;
    return { endpoints: scheduleEndpoints(new Schedules({ ...services, appUrl, tasks: new TaskRequests(services) })) };
  },
};
