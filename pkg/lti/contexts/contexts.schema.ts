import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Etag, Timestamp, Uuid } from '../../api/schemas.ts';

/** A course of an LMS (docs/design/lti.md, Courses and services). */
export const ContextView = z
  .object({
    id: Uuid,
    lms_id: z.string().meta({ description: "the LMS's own id of the course", example: 'history-1' }),
    title: z.string().meta({ example: 'History' }),
    label: z.string().nullable().meta({ description: "the LMS's short name of the course", example: 'HIST 101' }),
    registration_id: Uuid.nullable().describe('the registration of the last launch; null if there was none in the last 90 days'),
    folder: z
      .object({ id: Uuid, name: z.string().meta({ example: 'History' }) })
      .nullable()
      .describe("the course's folder; null once it was deleted"),
    group_id: Uuid.describe('the group of its people'),
    members: z.int().min(0).meta({ description: 'people who are in the course, whether they have launched or not', example: 24 }),
    services: z
      .object({
        line_items: z
          .enum(['read', 'write'])
          .nullable()
          .meta({ description: 'whether line items can be read, or also made and changed; null: neither', example: 'write' }),
        scores: z.boolean(),
        results: z.boolean(),
        roster: z.boolean(),
      })
      .describe('what the LMS offers in this course, according to its last launch; nothing while the registration is inactive'),
    roster_synced_at: Timestamp.nullable().meta({
      description: 'when the last imported list of members was read from the LMS; null: never',
      example: null,
    }),
    etag: Etag,
  })
  .meta({ id: 'LtiContext' });
export type ContextView = z.output<typeof ContextView>;

export const ContextPage = pageOf(ContextView).meta({ id: 'LtiContextPage' });
export const CONTEXT_SORT_FIELDS = ['title'] as const;

export const ContextQuery = z.object(pageQueryOf(CONTEXT_SORT_FIELDS));
export type ContextQuery = z.output<typeof ContextQuery>;
