import { etagOf } from '../api/etag.ts';
import type { EventName } from '../events/catalogue.ts';
import type { Webhook } from '../store/postgres/tables.ts';
import type { WebhookSeal } from './sealing.ts';
import { standardForm } from './webhook-secrets.ts';
import type { WebhookView, WebhookWithSecret } from './webhooks.schema.ts';

export const webhookEtag = (webhook: Webhook): string => etagOf('webhook', webhook.uuid, webhook.revision);

/** Throws SealError. */
export const presentWebhook = (webhook: Webhook, seal: WebhookSeal, now: Date): WebhookView => ({
  id: webhook.uuid,
  url: webhook.url,
  events: webhook.events as EventName[],
  active: webhook.active,
  description: webhook.description,
  header_names: Object.keys(seal.openHeaders(webhook.uuid, webhook.headers)),
  managed_by: webhook.managedBy,
  managed_ref: webhook.managedRef,
  failing_since: webhook.failingSince?.toISOString() ?? null,
  disabled_reason: webhook.disabledReason,
  last_delivery_at: webhook.lastDeliveryAt?.toISOString() ?? null,
  last_status_code: webhook.lastStatusCode,
  previous_secret_until:
    webhook.previousSecretUntil !== null && webhook.previousSecretUntil > now ? webhook.previousSecretUntil.toISOString() : null,
  created_at: webhook.createdAt.toISOString(),
  updated_at: webhook.updatedAt.toISOString(),
  etag: webhookEtag(webhook),
});

export const withSecret = (view: WebhookView, secret: string): WebhookWithSecret => ({ ...view, secret: standardForm(secret) });
