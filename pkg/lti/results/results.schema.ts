import { z } from 'zod';
import { pageOf } from '../../api/paging.ts';
import { text, Timestamp, Uuid } from '../../api/schemas.ts';
import { LmsPageQuery } from '../line-items/line-items.schema.ts';

/** A person's result in the LMS's grade book (AGS 2.0 §3.3), no matter who entered it. */
export const ResultView = z
  .object({
    user_id: z.string().meta({ description: "the LMS's own id of the person", example: 'student-7' }),
    user: z
      .object({ id: Uuid, name: z.string().nullable().meta({ example: 'Ada Okafor' }) })
      .nullable()
      .describe('their user here; null if they have never launched'),
    result_score: z.number().nullable().meta({ description: 'null: no score', example: 8.5 }),
    result_maximum: z.number().meta({ example: 10 }),
    comment: z.string().nullable().meta({ example: 'Well argued.' }),
    scored_at: Timestamp.optional().describe('if the LMS provides it'),
  })
  .meta({ id: 'LtiResult' });
export type ResultView = z.output<typeof ResultView>;

export const ResultPage = pageOf(ResultView).meta({ id: 'LtiResultPage' });

export const ResultQuery = LmsPageQuery.extend({
  user_id: text(1, 255).optional().meta({ description: "the LMS's own id of a person", example: 'student-7' }),
});
export type ResultQuery = z.output<typeof ResultQuery>;
