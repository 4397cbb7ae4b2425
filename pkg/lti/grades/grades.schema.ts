import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Etag, text, Timestamp, Uuid } from '../../api/schemas.ts';

/** The scope that a launch must have and that a service token is requested for (AGS 2.0 §3.1). */
export const SCORE_SCOPE = 'https://purl.imsglobal.org/spec/lti-ags/scope/score';

export const GRADE_STATUS = ['pending', 'submitted', 'failed'] as const;

const COMMENT_MAX = 10_000;

/** docs/design/records.md, LTI: decimal, 5 digits with 2 decimals. */
const Score = z.number().min(0).max(999.99).multipleOf(0.01, 'must not have more than two decimals');
/** `sub` of an id_token: printable ASCII, 255 characters at most (LTI Core 1.3 §5.3.6). */
const LmsUser = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')
  .meta({ description: "the LMS's own id of the person (sub), who need not have launched", example: 'student-7' });

export const NewGrade = z
  .object({
    user_id: LmsUser,
    score: Score.meta({ description: 'may exceed score_maximum if the LMS accepts that', example: 8.5 }),
    score_maximum: Score.gt(0).meta({ example: 10 }),
    comment: text(0, COMMENT_MAX).optional().meta({ description: 'shown to the person by the LMS', example: 'Well argued.' }),
  })
  .meta({ id: 'NewGrade' });
export type NewGrade = z.output<typeof NewGrade>;

export const GradeView = z
  .object({
    id: Uuid,
    launch_id: Uuid.nullable().describe('null if it was given for a line item'),
    line_item_id: Uuid.nullable().describe('null if it was given for a launch'),
    user_id: z.string().meta({ example: 'student-7' }),
    score: z.number().meta({ example: 8.5 }),
    score_maximum: z.number().meta({ example: 10 }),
    comment: z.string().nullable().meta({ example: 'Well argued.' }),
    timestamp: Timestamp.describe(
      'a whole second, later than any other of this person and line item; ' +
        'moved forward if the LMS refuses it because it already has a score that is as new',
    ),
    status: z.enum(GRADE_STATUS),
    reason: z.string().nullable().meta({
      description: 'why it failed; while it is pending, why the last attempt failed; a note if it was submitted',
      example: null,
    }),
    attempts: z.int().meta({ description: 'failed attempts', example: 0 }),
    submitted_at: Timestamp.nullable().describe('when the LMS accepted it'),
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'Grade' });
export type GradeView = z.output<typeof GradeView>;

export const GradePage = pageOf(GradeView).meta({ id: 'GradePage' });

export const GRADE_SORT_FIELDS = ['timestamp'] as const;

export const GradeQuery = z.object({
  ...pageQueryOf(GRADE_SORT_FIELDS),
  user_id: text(0, 255).optional().meta({ example: 'student-7' }),
  status: z.enum(GRADE_STATUS).optional(),
});
export type GradeQuery = z.output<typeof GradeQuery>;

export const AllGradesQuery = GradeQuery.extend({
  launch_id: Uuid.optional(),
  context_id: Uuid.optional().describe('those of a course'),
  line_item_id: Uuid.optional(),
});
export type AllGradesQuery = z.output<typeof AllGradesQuery>;
