import { bigint, boolean, filled, integer, json, nullable, table, text, texts, timestamp, uuid } from '../columns.ts';

/**
 * A webhook endpoint. Secrets and headers are sealed. Only `managedBy` may change it, if set; `managedRef` is its resource there.
 */
export const webhooks = table('webhooks', ['id'], {
  id: filled(bigint),
  uuid,
  url: text,
  events: texts,
  secret: text,
  /** Signs in addition to `secret` until `previousSecretUntil`. */
  previousSecret: nullable(text),
  previousSecretUntil: nullable(timestamp),
  headers: nullable(text),
  description: nullable(text),
  active: filled(boolean),
  managedBy: nullable(text),
  managedRef: nullable(text),
  createdBy: nullable(bigint),
  failingSince: nullable(timestamp),
  disabledReason: nullable(text),
  lastDeliveryAt: nullable(timestamp),
  lastStatusCode: nullable(integer),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});

/**
 * docs/design/api-conventions.md, Requests and replies: `Idempotency-Key` (24 h). `statusCode` is null while the first request
 * runs, which holds the key until `lockedUntil`.
 */
export const idempotencyKeys = table('idempotency_keys', ['userId', 'key'], {
  userId: bigint,
  key: text,
  /** Hex SHA-256 of method, path and body: the same key with another request is refused. */
  fingerprint: text,
  lockedUntil: timestamp,
  statusCode: nullable(integer),
  headers: nullable(json<Record<string, string | readonly string[]>>()),
  body: nullable(text),
  createdAt: filled(timestamp),
  expiresAt: timestamp,
});

/**
 * Work that a tenant runs at times of its own. `savedBy` is the user as whom a run acts; `settings` are those of the tenant's
 * server, for a run. `nextTick` is null if the schedule is not active.
 */
export const schedules = table('schedules', ['id'], {
  id: filled(bigint),
  uuid,
  name: text,
  kind: text,
  arguments: json<object>(),
  cron: text,
  timeZone: text,
  active: boolean,
  catchUp: boolean,
  managedBy: nullable(text),
  managedRef: nullable(text),
  savedBy: nullable(bigint),
  settings: json<object>(),
  nextTick: nullable(timestamp),
  skipped: filled(bigint),
  missed: filled(bigint),
  revision: filled(bigint),
  createdAt: filled(timestamp),
  updatedAt: filled(timestamp),
});
