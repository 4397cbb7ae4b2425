import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { changesOf, Etag, label, text, Timestamp, Uuid } from '../api/schemas.ts';
import { GROUP_DESCRIPTION_MAX, GROUP_NAME_MAX } from './groups.policy.ts';

/** docs/design/records.md, Group. */
export const GroupView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'History, first year' }),
    description: z.string().nullable().meta({ example: 'Seminar of the winter term' }),
    kind: z.enum(['manual', 'course']).describe('course: a launch made it for a course of an LMS'),
    member_count: z.int().min(0).meta({ example: 24 }),
    managed_by: z
      .enum(['lti'])
      .nullable()
      .meta({ description: '`lti`: only the LMS changes it; null: administrators do', example: null }),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'Group' });
export type GroupView = z.output<typeof GroupView>;

export const GroupPage = pageOf(GroupView).meta({ id: 'GroupPage' });
export const GROUP_SORT_FIELDS = ['name', 'created_at', 'updated_at'] as const;

export const GroupQuery = z.object({
  ...pageQueryOf(GROUP_SORT_FIELDS),
  q: text(1, 255).optional().meta({ description: 'part of the name, in any case', example: 'history' }),
  kind: z.enum(['manual', 'course']).optional(),
  member: Uuid.optional().describe('only groups with this member'),
});
export type GroupQuery = z.output<typeof GroupQuery>;

const Name = label(GROUP_NAME_MAX).meta({
  description: 'unique, ignoring case, among manual groups',
  example: 'History, first year',
});
const Description = text(0, GROUP_DESCRIPTION_MAX).nullable().meta({ example: 'Seminar of the winter term' });

export const NewGroup = z.object({ name: Name, description: Description.optional() }).meta({ id: 'NewGroup' });
export type NewGroup = z.output<typeof NewGroup>;

/** The body of PATCH and PUT. Absent fields keep their values. */
export const GroupChanges = changesOf(z.object({ name: Name, description: Description })).meta({ id: 'GroupChanges' });
export type GroupChanges = z.output<typeof GroupChanges>;
