import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { NamedTime, QueryTime, Timestamp, Uuid } from '../api/schemas.ts';
import { EventKind } from './webhooks.schema.ts';

/**
 * `pending`: running or waiting for its next attempt; `failed`: after the last attempt; `canceled`: its webhook was not active
 * when it was due.
 */
const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'canceled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** `/webhooks/{id}/deliveries`. */
export const DeliveryView = z
  .object({
    id: Uuid,
    message_id: Uuid.describe('the header `webhook-id`: the same for every delivery and replay of one event'),
    event: EventKind,
    status: z.enum(DELIVERY_STATES),
    attempts: z.array(
      z.object({
        at: Timestamp,
        status_code: z.int().nullable().meta({ description: 'null: no answer came', example: 204 }),
        error: z.string().nullable().meta({ example: null }),
      }),
    ),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
    next_attempt_at: Timestamp.nullable(),
  })
  .meta({ id: 'Delivery' });
export type DeliveryView = z.output<typeof DeliveryView>;

export const DeliveryWithPayload = DeliveryView.extend({
  payload: z.string().meta({ description: 'the body of the request, byte for byte', example: '{"event":"file.created"}' }),
}).meta({ id: 'DeliveryWithPayload' });
export type DeliveryWithPayload = z.output<typeof DeliveryWithPayload>;

export const DeliveryPage = pageOf(DeliveryView).meta({ id: 'DeliveryPage' });
export const DELIVERY_SORT_FIELDS = ['created_at'] as const;

export const DeliveryQuery = z.object({
  ...pageQueryOf(DELIVERY_SORT_FIELDS),
  status: z.enum(DELIVERY_STATES).optional(),
  event: EventKind.optional(),
  since: QueryTime.optional().describe('created at or after'),
  until: QueryTime.optional().describe('created before'),
});
export type DeliveryQuery = z.output<typeof DeliveryQuery>;

/** States of deliveries that may be replayed. */
export const REPLAYABLE_STATES = ['failed', 'canceled', 'delivered'] as const;
type ReplayableState = (typeof REPLAYABLE_STATES)[number];

/** Returns the states to replay; undefined selects those that did not arrive. */
export const statesOf = (status: ReplayableState | undefined): ReplayableState[] =>
  status === undefined ? ['failed', 'canceled'] : [status];

const Replayed = {
  since: NamedTime.describe('deliveries created at or after'),
  until: NamedTime.optional().describe('and before; left out: now'),
  status: z.enum(REPLAYABLE_STATES).optional().describe('missing: deliveries that did not arrive, failed or canceled'),
};

export const NewReplay = z
  .object(Replayed)
  .meta({ id: 'NewReplay', example: { since: '2026-01-31T12:00:00Z', status: 'failed' } });
export type NewReplay = z.output<typeof NewReplay>;

/** Deliveries that one request replays at most. */
const REPLAY_MAX = 1_000;

export const ReplayRange = z
  .object({
    ...Replayed,
    limit: z.int().min(1).max(REPLAY_MAX).default(REPLAY_MAX),
    cursor: z
      .string()
      .max(500)
      .regex(/^[A-Za-z0-9_-]+$/, 'must be a cursor of this range')
      .optional()
      .describe('`next_cursor` of the previous reply, with the same since, until and status'),
  })
  .meta({ id: 'ReplayRange', example: { since: '2026-01-31T12:00:00Z', status: 'failed', limit: 100 } });
export type ReplayRange = z.output<typeof ReplayRange>;

export const ReplayedRange = z
  .object({
    replayed: z.int().meta({ description: 'new deliveries', example: 3 }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().meta({ example: null }),
  })
  .meta({ id: 'ReplayedRange' });
export type ReplayedRange = z.output<typeof ReplayedRange>;

export const TestEvent = z
  .object({ event: EventKind.optional().describe("one of the webhook's events; left out: its first") })
  .meta({ id: 'TestEvent' });
export type TestEvent = z.output<typeof TestEvent>;
