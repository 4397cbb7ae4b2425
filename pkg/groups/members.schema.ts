import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { Timestamp, Uuid } from '../api/schemas.ts';

export const GroupMember = z
  .object({
    user: z.object({
      id: Uuid,
      name: z.string().meta({ example: 'Ada Okafor' }),
      email: z.string().nullable().meta({ description: 'null: the caller may not list users', example: 'ada@example.org' }),
    }),
    added_at: Timestamp,
  })
  .meta({ id: 'GroupMember' });
export type GroupMember = z.output<typeof GroupMember>;

export const GroupMemberPage = pageOf(GroupMember).meta({ id: 'GroupMemberPage' });
export const MEMBER_SORT_FIELDS = ['name', 'added_at'] as const;
export const MemberQuery = z.object(pageQueryOf(MEMBER_SORT_FIELDS));
export type MemberQuery = z.output<typeof MemberQuery>;
