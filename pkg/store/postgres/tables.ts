import type { NewOf, RowOf } from './columns.ts';
import * as content from './models/content.ts';
import * as events from './models/events.ts';
import * as identity from './models/identity.ts';
import * as lti from './models/lti.ts';

/** Every table of a tenant's schema, by its name in the code. */
export const definitions = { ...identity, ...content, ...lti, ...events } as const;
export type Definitions = typeof definitions;

export type User = RowOf<Definitions['users']>;
export type Session = RowOf<Definitions['sessions']>;
export type Group = RowOf<Definitions['groups']>;
export type Webhook = RowOf<Definitions['webhooks']>;
export type NewWebhook = NewOf<Definitions['webhooks']>;
export type Schedule = RowOf<Definitions['schedules']>;
export type IdempotencyKey = RowOf<Definitions['idempotencyKeys']>;
