import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { changesOf, distinct, Etag, queryBoolean, text, Timestamp, Uuid } from '../api/schemas.ts';
import { type EventName, EVENTS } from '../events/catalogue.ts';
import {
  HEADER_NAME_MAX,
  HEADER_VALUE_MAX,
  HEADERS_MAX,
  isOwnHeader,
  isWellFormedSecret,
  SECRET_MAX,
  SECRET_OVERLAP_HOURS,
  URL_MAX,
} from './webhooks.policy.ts';

const EVENT_NAMES = Object.keys(EVENTS) as [EventName, ...EventName[]];
export const EventKind = z.enum(EVENT_NAMES);

/** A webhook (docs/design/records.md, Webhook), and the health of its receiver. */
export const WebhookView = z
  .object({
    id: Uuid,
    url: z.string().meta({ example: 'https://receiver.example.org/hook' }),
    events: z.array(EventKind),
    active: z.boolean(),
    description: z.string().nullable().meta({ example: 'Plagiarism check' }),
    header_names: z
      .array(z.string().meta({ example: 'X-Team' }))
      .describe('additional headers of each delivery; their values are never shown'),
    managed_by: z
      .string()
      .nullable()
      .meta({ description: '`kubernetes`: a Kubernetes resource defines it, and only that may change it', example: null }),
    managed_ref: z.string().nullable().meta({ description: 'the resource, as `namespace/name`', example: null }),
    failing_since: Timestamp.nullable(),
    disabled_reason: z
      .string()
      .nullable()
      .meta({ description: 'why it was deactivated; `active: true` activates it again', example: null }),
    last_delivery_at: Timestamp.nullable().describe('recorded at each change of health, otherwise every 5 minutes'),
    last_status_code: z.int().nullable().meta({ example: 204 }),
    previous_secret_until: Timestamp.nullable().describe('the time until which the previous secret also signs'),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'Webhook' });
export type WebhookView = z.output<typeof WebhookView>;

/** The reply to creation and rotation, the only replies that contain a secret. */
export const WebhookWithSecret = WebhookView.extend({
  secret: z.string().meta({
    description: 'shown only once; a secret given without `whsec_` is shown as `whsec_` and its base64',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }),
}).meta({ id: 'WebhookWithSecret' });
export type WebhookWithSecret = z.output<typeof WebhookWithSecret>;

export const WebhookPage = pageOf(WebhookView).meta({ id: 'WebhookPage' });
export const WEBHOOK_SORT_FIELDS = ['created_at'] as const;
export const WebhookQuery = z.object({
  ...pageQueryOf(WEBHOOK_SORT_FIELDS),
  event: EventKind.optional().describe('only webhooks that subscribe to this event'),
  active: queryBoolean().optional(),
});
export type WebhookQuery = z.output<typeof WebhookQuery>;

const Url = text(1, URL_MAX).meta({
  description: 'https; plain http only for an address that the platform opened',
  example: 'https://receiver.example.org/hook',
});
const Events = distinct(EventKind, { min: 1, max: EVENT_NAMES.length });
const Description = text(0, 500).meta({ example: 'Plagiarism check' }).nullable();
const Secret = text(1, SECRET_MAX).refine(isWellFormedSecret, 'must continue with base64 after whsec_').meta({
  description: 'generated if missing; without `whsec_` it stands for `whsec_` and its base64',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
});
const HeaderName = z
  .string()
  .max(HEADER_NAME_MAX)
  .regex(/^[A-Za-z0-9-]+$/, 'must be letters, digits and -');
const Headers = z
  .record(
    HeaderName,
    z
      .string()
      .max(HEADER_VALUE_MAX)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
  )
  .superRefine((headers, context) => {
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    const wrong = (name: string | undefined, message: string): void =>
      context.addIssue({ code: 'custom', path: name === undefined ? [] : [name], message });
    if (names.length > HEADERS_MAX) wrong(undefined, `must be at most ${HEADERS_MAX}`);
    if (new Set(names).size < names.length) wrong(undefined, 'must not name a header twice');
    for (const name of Object.keys(headers)) if (isOwnHeader(name)) wrong(name, 'is set by the delivery itself');
  })
  .meta({
    description: 'further headers of each delivery; write-only, so to be given again when `url` moves to another origin',
    maxProperties: HEADERS_MAX,
    example: { 'X-Team': 'history' },
  });

export const NewWebhook = z
  .object({
    url: Url,
    events: Events,
    secret: Secret.optional(),
    active: z.boolean().default(true),
    description: Description.optional(),
    headers: Headers.optional(),
  })
  .meta({ id: 'NewWebhook' });
export type NewWebhook = z.output<typeof NewWebhook>;

/** The body of PATCH and PUT. Absent fields keep their values. Headers are write-only; the secret has an operation of its own. */
export const WebhookChanges = changesOf(
  z.object({ url: Url, events: Events, active: z.boolean(), description: Description, headers: Headers }),
).meta({ id: 'WebhookChanges' });
export type WebhookChanges = z.output<typeof WebhookChanges>;

export const NewSecret = z
  .object({
    secret: Secret.optional(),
    overlap_hours: z
      .int()
      .min(0)
      .max(SECRET_OVERLAP_HOURS)
      .default(SECRET_OVERLAP_HOURS)
      .describe('how long the previous secret also signs; 0 if it leaked'),
  })
  .meta({ id: 'NewWebhookSecret' });
export type NewSecret = z.output<typeof NewSecret>;
