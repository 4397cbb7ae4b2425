import { z } from 'zod';

const Id = z.string().min(1);
const Time = z.iso.datetime();
const Bytes = z.int().nonnegative();

/** specification.md, Events: these five fields and no other. */
const FileCreated = z.strictObject({ id: Id, name: z.string(), size: Bytes, owner_id: Id, created_at: Time });

const FileUpdated = z.strictObject({
  ...FileCreated.shape,
  folder_id: Id.nullable(),
  path: z.string(),
  version: z.int().positive(),
  updated_at: Time,
  changes: z
    .array(z.enum(['name', 'folder', 'content', 'restored']))
    .min(1)
    .describe('what is new'),
});

const FileDeleted = z.strictObject({
  ...FileCreated.shape,
  deleted_at: Time,
  permanent: z.boolean().describe('false: it lies in the trash and may be restored'),
});

const UserCreated = z.strictObject({
  id: Id,
  email: z.string(),
  username: z.string(),
  display_name: z.string().nullable(),
  contact_email: z.string().nullable().describe('the address that an LMS sent last'),
  roles: z.array(z.string()),
  is_active: z.boolean(),
  created_at: Time,
});

const UserUpdated = z.strictObject({
  ...UserCreated.shape,
  updated_at: Time,
  changes: z.array(z.string()).min(1).describe('names of the fields that are new; a password is only named'),
});

const GradeSubmitted = z.strictObject({
  id: Id,
  launch_id: Id,
  user_id: Id.describe("the LMS's own"),
  score: z.number(),
  score_maximum: z.number(),
  timestamp: Time.describe('of the grade: the later one of a person replaces the earlier'),
  submitted_at: Time.describe('when the LMS had it'),
});

/** Every event there is, by its exact name, with the shape of its `data` (specification.md, Events; design: section 7). */
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
