import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import {
  NewSecret,
  NewWebhook,
  WebhookChanges,
  WebhookPage,
  WebhookQuery,
  WebhookView,
  WebhookWithSecret,
} from './webhooks.schema.ts';
import type { Webhooks } from './webhooks.service.ts';

const ById = z.object({ id: Uuid });
const READ = { tag: 'webhooks', caller: { permission: 'read:webhooks' } } as const;
const WRITE = { tag: 'webhooks', caller: { permission: 'write:webhooks' } } as const;
const CHANGE_ERRORS = ['not_found', 'managed', 'precondition_failed', 'address_refused'] as const;

type Change = Pick<Endpoint, 'method' | 'operationId' | 'summary'>;

export function webhookEndpoints(webhooks: Webhooks): Endpoint[] {
  const change = (as: Change): Endpoint =>
    endpoint({
      ...WRITE,
      ...as,
      path: '/webhooks/{id}',
      params: ById,
      body: WebhookChanges,
      replies: { 200: WebhookView },
      errors: CHANGE_ERRORS,
      idempotent: true,
      handle: async ({ params, body, request }) => tagged(200, await webhooks.change(params.id, body, request.ifMatch)),
    });
  return [
    endpoint({
      ...READ,
      method: 'get',
      path: '/webhooks',
      operationId: 'listWebhooks',
      summary: 'List the webhooks of the tenant',
      query: WebhookQuery,
      replies: { 200: WebhookPage },
      handle: async ({ query }) => reply(200, await webhooks.list(query)),
    }),
    endpoint({
      ...WRITE,
      method: 'post',
      path: '/webhooks',
      operationId: 'createWebhook',
      summary: 'Register a webhook; only this reply shows its secret',
      body: NewWebhook,
      replies: { 201: WebhookWithSecret },
      errors: ['address_refused', 'conflict'],
      idempotent: 'sealed',
      handle: async ({ actor, body }) => tagged(201, await webhooks.create(actor, body)),
    }),
    endpoint({
      ...READ,
      method: 'get',
      path: '/webhooks/{id}',
      operationId: 'getWebhook',
      summary: 'Show a webhook',
      params: ById,
      replies: { 200: WebhookView },
      errors: ['not_found'],
      handle: async ({ params }) => tagged(200, await webhooks.get(params.id)),
    }),
    change({ method: 'put', operationId: 'putWebhook', summary: 'Change fields of a webhook, as PATCH does' }),
    change({
      method: 'patch',
      operationId: 'updateWebhook',
      summary:
        'Change fields of a webhook; `active: true` enables a disabled one, a URL of another origin requires ' +
        'the headers again, and the secret has its own operation',
    }),
    endpoint({
      ...WRITE,
      method: 'delete',
      path: '/webhooks/{id}',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook; its pending deliveries are canceled',
      params: ById,
      replies: { 204: null },
      errors: ['not_found', 'managed', 'precondition_failed'],
      handle: async ({ params, request }) => {
        await webhooks.remove(params.id, request.ifMatch);
        return reply(204);
      },
    }),
    endpoint({
      ...WRITE,
      method: 'post',
      path: '/webhooks/{id}/secret',
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret; only this reply shows the new one, and the previous one also signs for a while',
      params: ById,
      body: NewSecret,
      replies: { 200: WebhookWithSecret },
      errors: ['not_found', 'managed', 'precondition_failed'],
      idempotent: 'sealed',
      handle: async ({ params, body, request }) => tagged(200, await webhooks.rotate(params.id, body, request.ifMatch)),
    }),
  ];
}
