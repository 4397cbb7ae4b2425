import { type EventData, type EventName, EVENTS } from '../events/catalogue.ts';

/** The id of nothing (RFC 9562 §5.9): by it a receiver knows a test. */
const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * The payload of a test: one of the six kinds, since there is no seventh, in its exact shape, about things that do not exist.
 * Every id in it is the nil UUID.
 */
export function testPayload(event: EventName, now: Date): string {
  const timestamp = now.toISOString();
  return JSON.stringify({ event, timestamp, data: EVENTS[event].parse(samples(timestamp)[event]) });
}

const samples = (at: string): { readonly [Name in EventName]: EventData<Name> } => {
  const file = { id: NIL, name: 'test.txt', size: 0, owner_id: NIL, created_at: at };
  const user = {
    id: NIL,
    email: 'test@example.invalid',
    username: 'test',
    display_name: 'Test of a webhook',
    contact_email: null,
    roles: ['member'],
    is_active: true,
    created_at: at,
  };
  return {
    'file.created': file,
    'file.updated': { ...file, folder_id: null, path: '/test.txt', version: 1, updated_at: at, changes: ['name'] },
    'file.deleted': { ...file, deleted_at: at, permanent: true },
    'user.created': user,
    'user.updated': { ...user, updated_at: at, changes: ['display_name'] },
    'grade.submitted': { id: NIL, launch_id: NIL, user_id: NIL, score: 1, score_maximum: 1, timestamp: at, submitted_at: at },
  };
};
