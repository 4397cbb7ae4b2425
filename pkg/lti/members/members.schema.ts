import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { text, Timestamp, Uuid } from '../../api/schemas.ts';
import { LmsPageQuery } from '../line-items/line-items.schema.ts';

/** A person of a course, according to its LMS (docs/design/lti.md, Members). */
export const MemberView = z
  .object({
    lms_user_id: z.string().meta({ description: "the LMS's own id of the person", example: 'student-7' }),
    user: z
      .object({ id: Uuid, name: z.string().nullable().meta({ example: 'Ada Okafor' }) })
      .nullable()
      .describe('their user here; null if they have never launched'),
    name: z.string().nullable().meta({ description: 'null if the LMS does not provide it', example: 'Ada Okafor' }),
    email: z.string().nullable().meta({ description: 'null if the LMS does not provide it', example: 'ada@example.org' }),
    roles: z
      .array(z.string().meta({ example: 'http://purl.imsglobal.org/vocab/lis/v2/membership#Learner' }))
      .describe('role URIs, each once and in order'),
    role: z.enum(['instructor', 'learner']).describe('what they may do in the course here: instructors write'),
    status: z.enum(['active', 'inactive']).describe('inactive: has left the course, and has no rights from it'),
    source: z
      .enum(['launch', 'roster'])
      .describe('the evidence that they are in the course: the last roster, or one of their launches'),
    last_launch_at: Timestamp.nullable().describe('null: has not launched from this course in the last 90 days'),
  })
  .meta({ id: 'LtiMember' });
export type MemberView = z.output<typeof MemberView>;

export const MemberPage = pageOf(MemberView).meta({ id: 'LtiMemberPage' });
export const MEMBER_SORT_FIELDS = ['name'] as const;

export const MemberQuery = z.object({
  ...pageQueryOf(MEMBER_SORT_FIELDS),
  role: z.enum(['instructor', 'learner']).optional(),
  q: text(1, 255).optional().meta({ description: 'part of the name or e-mail address; case does not matter', example: 'ada' }),
});
export type MemberQuery = z.output<typeof MemberQuery>;

/** A person who may currently open a link, according to its LMS (docs/design/lti.md, Members). */
export const LinkMemberView = MemberView.omit({ source: true, last_launch_at: true }).meta({ id: 'LtiLinkMember' });
export type LinkMemberView = z.output<typeof LinkMemberView>;

export const LinkMemberPage = pageOf(LinkMemberView).meta({ id: 'LtiLinkMemberPage' });

export const LinkMemberQuery = LmsPageQuery.extend({
  resource_link_id: text(1, 255).meta({
    description: "the LMS's own id of a link of this tool in the course",
    example: 'link-1',
  }),
  role: z.enum(['instructor', 'learner']).optional(),
});
export type LinkMemberQuery = z.output<typeof LinkMemberQuery>;
