import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import { TaskView } from '../tasks/tasks.schema.ts';
import {
  DeliveryPage,
  DeliveryQuery,
  DeliveryView,
  DeliveryWithPayload,
  NewReplay,
  ReplayedRange,
  ReplayRange,
  TestEvent,
} from './deliveries.schema.ts';
import type { Deliveries } from './deliveries.service.ts';
import { WebhookStatistics } from './statistics/statistics.schema.ts';
import type { Replays } from './replays/replays.service.ts';

const ById = z.object({ id: Uuid });
const ByDelivery = z.object({ id: Uuid, delivery: Uuid });
const READ = { tag: 'webhooks', caller: { permission: 'read:webhooks' } } as const;
const WRITE = { tag: 'webhooks', caller: { permission: 'write:webhooks' } } as const;
const SEND = { ...WRITE, method: 'post', errors: ['not_found', 'conflict'], idempotent: true } as const;

/** Replays and tests change nothing, so they work for webhooks of Kubernetes resources too. */
export const deliveryEndpoints = (deliveries: Deliveries, replays: Replays): Endpoint[] => [
  endpoint({
    ...READ,
    method: 'get',
    path: '/webhooks/{id}/deliveries',
    operationId: 'listDeliveries',
    summary: 'List the deliveries of a webhook of the last 30 days, newest first',
    params: ById,
    query: DeliveryQuery,
    replies: { 200: DeliveryPage },
    errors: ['not_found'],
    handle: async ({ params, query }) => reply(200, await deliveries.list(params.id, query)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/webhooks/{id}/deliveries/{delivery}',
    operationId: 'getDelivery',
    summary: 'Show a delivery with its payload',
    params: ByDelivery,
    replies: { 200: DeliveryWithPayload },
    errors: ['not_found'],
    handle: async ({ params }) => reply(200, await deliveries.get(params.id, params.delivery)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/webhooks/{id}/statistics',
    operationId: 'getWebhookStatistics',
    summary:
      'Show how many attempts a webhook got in 24 hours, in 7 days and in each hour, how many failed, and how fast it answers',
    params: ById,
    replies: { 200: WebhookStatistics },
    errors: ['not_found'],
    handle: async ({ params }) => reply(200, await deliveries.statistics(params.id)),
  }),
  endpoint({
    ...SEND,
    path: '/webhooks/{id}/deliveries/{delivery}/replay',
    operationId: 'replayDelivery',
    summary: 'Deliver an event again with the same id and bytes; returns the new delivery',
    params: ByDelivery,
    replies: { 202: DeliveryView },
    handle: async ({ params }) => reply(202, await deliveries.replay(params.id, params.delivery)),
  }),
  endpoint({
    ...SEND,
    path: '/webhooks/{id}/replay',
    operationId: 'replayDeliveries',
    summary: 'Deliver again what was not delivered in a time range, the oldest first; `next_cursor` continues',
    params: ById,
    body: ReplayRange,
    replies: { 202: ReplayedRange },
    handle: async ({ params, body }) => reply(202, await deliveries.replayRange(params.id, body)),
  }),
  endpoint({
    ...SEND,
    path: '/webhooks/{id}/replays',
    operationId: 'createReplay',
    summary: 'Deliver again the failed or the delivered events of a time range, as a job that does not delay new events',
    params: ById,
    body: NewReplay,
    replies: { 202: TaskView },
    handle: async ({ actor, params, body }) => reply(202, await replays.request(actor, params.id, body)),
  }),
  endpoint({
    ...SEND,
    path: '/webhooks/{id}/test',
    operationId: 'testWebhook',
    summary: 'Deliver a test event to this webhook only; every id in it is the nil UUID',
    params: ById,
    body: TestEvent,
    replies: { 202: DeliveryView },
    handle: async ({ params, body }) => reply(202, await deliveries.test(params.id, body)),
  }),
];
