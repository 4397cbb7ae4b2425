import { type EventName, EVENTS, payloadSchema } from '../../events/catalogue.ts';
import type { Json, SchemaBook } from './schema-book.ts';

/**
 * The `webhooks` section: the delivery of each event, and the headers by which a receiver verifies it (docs/receive-webhooks.md).
 */
export const webhookDescriptions = (schemas: SchemaBook): Json =>
  Object.fromEntries((Object.keys(EVENTS) as EventName[]).map((event) => [event, { post: delivery(event, schemas) }]));

/** `file.created` → `FileCreated`. */
const pascal = (event: string): string => event.replaceAll(/(?:^|\.)(\w)/g, (_all, letter: string) => letter.toUpperCase());

function delivery(event: EventName, schemas: SchemaBook): Json {
  const schema = schemas.of(payloadSchema(event).meta({ id: `${pascal(event)}Event` }), 'output');
  return {
    operationId: `on${pascal(event)}`,
    summary: `A delivery of ${event}`,
    description:
      'A POST to the address of a webhook that is subscribed to it. Every resend has the same `webhook-id` and the same bytes.',
    tags: ['webhooks'],
    security: [],
    parameters: SIGNATURE_HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema, example: schemas.example(schema) } } },
    responses: {
      '2XX': { description: 'Delivered; the body is ignored.' },
      410: { description: 'The receiver is gone: the webhook is deactivated.' },
      default: { description: 'Failed, also for redirects: retried later. `Retry-After` extends the delay.' },
    },
  };
}

const header = (name: string, description: string, pattern: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', pattern },
  example,
});

const SIGNATURE_HEADERS: readonly Json[] = [
  header(
    'X-Carrel-Signature',
    'Hex HMAC-SHA256 of the body; the key is the secret exactly as given.',
    '^[0-9a-f]{64}$',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
  header(
    'webhook-id',
    'Standard Webhooks 1.0: the same for every delivery and replay of one event.',
    '^[0-9a-f-]{36}$',
    '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11',
  ),
  header('webhook-timestamp', 'Standard Webhooks 1.0: Unix time in seconds of this attempt.', '^[0-9]{1,12}$', '1769860800'),
  header(
    'webhook-signature',
    'Standard Webhooks 1.0: `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`; ' +
      'two, separated by a space, while a rotation overlaps.',
    '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
];
