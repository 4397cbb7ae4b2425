import { z } from 'zod';
import { Timestamp } from '../api/schemas.ts';

const Id = z.string().min(1).meta({ example: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11' });
const Time = z.iso.datetime().meta({ example: '2026-01-31T12:00:00.000Z' });
const Bytes = z.int().nonnegative().meta({ example: 1_048_576 });

/** docs/design/records.md, Webhook: these five fields and no other. */
const FileCreated = z.strictObject({
  id: Id,
  name: z.string().meta({ example: 'thesis.pdf' }),
  size: Bytes,
  owner_id: Id,
  created_at: Time,
});

const FileUpdated = z.strictObject({
  ...FileCreated.shape,
  folder_id: Id.nullable(),
  path: z.string().meta({ example: '/History/thesis.pdf' }),
  version: z.int().positive().meta({ example: 2 }),
  updated_at: Time,
  changes: z
    .array(z.enum(['name', 'folder', 'path', 'content', 'restored', 'metadata']))
    .min(1)
    .describe('the changed fields; path: a folder above was renamed or moved'),
});

const FileDeleted = z.strictObject({
  ...FileCreated.shape,
  deleted_at: Time,
  permanent: z.boolean().describe('false: it is in the trash and may be restored'),
});

const UserCreated = z.strictObject({
  id: Id,
  email: z.string().meta({ example: 'ada@example.org' }),
  username: z.string().meta({ example: 'ada' }),
  display_name: z.string().nullable().meta({ example: 'Ada Okafor' }),
  contact_email: z.string().nullable().meta({ description: 'the address that an LMS sent last', example: null }),
  roles: z.array(z.string().meta({ example: 'member' })),
  is_active: z.boolean(),
  created_at: Time,
});

const UserUpdated = z.strictObject({
  ...UserCreated.shape,
  updated_at: Time,
  changes: z
    .array(z.string().meta({ example: 'display_name' }))
    .min(1)
    .describe('names of the changed fields; of a password no value is shown'),
});

const GradeSubmitted = z.strictObject({
  id: Id,
  launch_id: Id.nullable().describe('null where the grade was given for a line item'),
  user_id: Id.meta({ description: "the LMS's own", example: 'student-7' }),
  score: z.number().meta({ example: 8.5 }),
  score_maximum: z.number().meta({ example: 10 }),
  timestamp: Time.describe('of the grade: the later one of a person replaces the earlier'),
  submitted_at: Time.describe('when the LMS received it'),
});

/** Every event by its exact name, with the shape of its `data` (docs/design/events-and-jobs.md, Events). */
export const EVENTS = {
  'file.created': FileCreated,
  'file.updated': FileUpdated,
  'file.deleted': FileDeleted,
  'user.created': UserCreated,
  'user.updated': UserUpdated,
  'grade.submitted': GradeSubmitted,
} as const;

export type EventName = keyof typeof EVENTS;
export type EventData<Name extends EventName> = z.input<(typeof EVENTS)[Name]>;

/** The body of an event's delivery, with the fields in the order in which they are signed and sent. */
export const payloadSchema = <Name extends EventName>(event: Name) =>
  z.strictObject({ event: z.literal(event), timestamp: Timestamp, data: EVENTS[event] });

const PAYLOADS = new Map<EventName, z.ZodType>(
  (Object.keys(EVENTS) as EventName[]).map((event) => [event, payloadSchema(event)]),
);

/** Returns the body of a delivery. Throws ZodError if `data` does not have the catalogue's shape. */
export const payloadOf = <Name extends EventName>(event: Name, timestamp: string, data: EventData<Name>): string =>
  JSON.stringify(PAYLOADS.get(event)?.parse({ event, timestamp, data }));

/** The nil UUID (RFC 9562 §5.9), by which a receiver recognizes a test event. */
const NIL = '00000000-0000-0000-0000-000000000000';

/** Returns `data` of each event for a test of a webhook, about things that do not exist: every id in it is the nil UUID. */
export const testData = (at: string): { readonly [Name in EventName]: EventData<Name> } => {
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
