import type { Feature } from '../feature/feature.ts';
import { TaskRequests } from '../tasks/task-requests.ts';
import { deliveryEndpoints } from './deliveries.endpoints.ts';
import { Deliveries } from './deliveries.service.ts';
import { Replays } from './replays/replays.service.ts';
import { WebhookSeal } from './sealing.ts';
import { webhookEndpoints } from './webhooks.endpoints.ts';
import { Webhooks } from './webhooks.service.ts';

/** The endpoints of a tenant's webhooks and their deliveries. The worker sends the deliveries (delivery/delivery.queue.ts). */
export const webhooks: Feature = {
  name: 'webhooks',
  create: (services) => {
    const seal = new WebhookSeal({ sealer: services.sealer, tenantId: services.tenant.id });
    const service = new Webhooks({ ...services, seal, egressAllow: services.settings.egressAllow });
    const replays = new Replays({ ...services, tasks: new TaskRequests(services) });
    return { endpoints: [...webhookEndpoints(service), ...deliveryEndpoints(new Deliveries(services), replays)] };
  },
};
