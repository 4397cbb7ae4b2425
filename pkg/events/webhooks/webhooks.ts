import type { Endpoint } from '../../api/endpoint.ts';
import type { AllowedRange } from '../../net/inward.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { WakeUps } from '../wake-ups.ts';
import { deliveryEndpoints } from './deliveries.endpoints.ts';
import { Deliveries } from './deliveries.service.ts';
import { WebhookSeal } from './secrets.ts';
import { webhookEndpoints } from './webhooks.endpoints.ts';
import { Webhooks } from './webhooks.service.ts';

/** Wires the endpoints of a tenant's webhooks and their deliveries. */
export function createWebhooks(deps: {
  db: Database;
  wakeUps: WakeUps;
  sealer: Sealer;
  /** Decimal string. */
  tenantId: string;
  /** Inward ranges that webhooks may lead to. */
  egressAllow: readonly AllowedRange[];
  clock: Clock;
  random: Random;
}): readonly Endpoint[] {
  const webhooks = new Webhooks({ ...deps, seal: new WebhookSeal(deps) });
  return [...webhookEndpoints(webhooks), ...deliveryEndpoints(new Deliveries(deps))];
}
