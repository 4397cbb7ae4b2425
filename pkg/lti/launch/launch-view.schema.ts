import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { QueryTime, Timestamp, Uuid } from '../../api/schemas.ts';
import { LINK_PROBLEM_CODES, LINK_PROBLEMS } from '../links/link-problems.policy.ts';

/** A launch for the page of the course and for programs (docs/design/records.md, LTI). */
export const LaunchView = z
  .object({
    launch_id: Uuid,
    user: z
      .object({
        id: Uuid,
        name: z
          .string()
          .nullable()
          .meta({ description: 'null if neither the LMS nor an administrator named one', example: 'Ada Okafor' }),
      })
      .nullable()
      .describe('who launched; null after that person was deleted'),
    roles: z
      .array(z.string().meta({ example: 'http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor' }))
      .describe('role URIs as the LMS sent them'),
    context: z
      .object({ id: z.string().meta({ example: 'history-1' }), title: z.string().meta({ example: 'History' }) })
      .nullable()
      .describe('the course; id is the one of the LMS'),
    folder: z
      .object({ id: Uuid, name: z.string().meta({ example: 'History' }), may_write: z.boolean() })
      .nullable()
      .describe("the course's folder, where the caller may read it; may_write: the caller may upload"),
    resource_link: z
      .object({
        id: z.string().meta({ example: 'link-1' }),
        title: z.string().meta({ example: 'Week 1' }).nullable().describe('as last sent by the LMS'),
        file: z
          .object({ id: Uuid, name: z.string().meta({ example: 'reader.pdf' }) })
          .nullable()
          .describe('the file that the link was placed for, where the caller may read it'),
        problem: z
          .object({ code: z.enum(LINK_PROBLEM_CODES), message: z.string().meta({ example: LINK_PROBLEMS.link_file_trashed }) })
          .nullable()
          .describe('why a placed link opens no file, and what can be done about it'),
      })
      .nullable(),
    reviews: z.boolean().describe('whether it is a submission review: /hand-in shows what it reviews'),
    course_id: Uuid.nullable().describe('the course at /lti/contexts, where the caller teaches it or is an administrator'),
    takes_grades: z.boolean().describe('whether the LMS gave this launch a line item and lets scores be posted'),
    return_url: z
      .url()
      .meta({ example: 'https://lms.example.org/course/1' })
      .nullable()
      .describe(
        'where the person returns to in the LMS; null for everyone else, since it may contain a secret of their session there',
      ),
    launched_at: Timestamp,
    expires_at: Timestamp.nullable().describe('end of the session that the launch opened'),
  })
  .meta({ id: 'LtiLaunch' });
export type LaunchView = z.output<typeof LaunchView>;

export const LaunchPage = pageOf(LaunchView).meta({ id: 'LtiLaunchPage' });
export const LAUNCH_SORT_FIELDS = ['launched_at'] as const;

export const LaunchQuery = z.object({
  ...pageQueryOf(LAUNCH_SORT_FIELDS),
  context_id: Uuid.optional().describe('those of a course'),
  user_id: Uuid.optional().describe('those of a person, by the id that they have here'),
  after: QueryTime.optional().describe('later than this'),
  before: QueryTime.optional().describe('earlier than this'),
});
export type LaunchQuery = z.output<typeof LaunchQuery>;
