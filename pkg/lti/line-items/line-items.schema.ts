import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Etag, label, NamedTime, text, Timestamp, Uuid } from '../../api/schemas.ts';

const ID_MAX = 255;
const SCORE_MAXIMUM_MAX = 1_000_000;

/** A line item of the LMS's grade book (AGS 2.0 §3.2), under an id of ours. */
export const LineItemView = z
  .object({
    id: Uuid,
    url: z.string().meta({ description: "the LMS's own address of it", example: 'https://lms.example.org/ags/1/lineitems/7' }),
    label: z.string().meta({ example: 'Essay' }),
    score_maximum: z.number().nullable().meta({ description: 'null if the LMS names none', example: 10 }),
    resource_id: z.string().nullable().meta({ description: "the tool's own id of what is graded", example: 'essay-1' }),
    tag: z.string().nullable().meta({ description: 'its role for the resource', example: 'grade' }),
    resource_link_id: z.string().nullable().meta({ description: 'the link in the LMS that it belongs to', example: null }),
    start_at: Timestamp.nullable().describe('people can hand in from then on'),
    end_at: Timestamp.nullable().describe('people can hand in until then'),
    etag: Etag,
  })
  .meta({ id: 'LineItem' });
export type LineItemView = z.output<typeof LineItemView>;

export const LineItemPage = pageOf(LineItemView).meta({ id: 'LineItemPage' });

export const NewLineItem = z
  .object({
    label: label(ID_MAX).meta({ example: 'Essay' }),
    score_maximum: z.number().gt(0).max(SCORE_MAXIMUM_MAX).meta({ example: 10 }),
    resource_id: text(1, ID_MAX).optional().meta({ example: 'essay-1' }),
    tag: text(1, ID_MAX).optional().meta({ example: 'grade' }),
    resource_link_id: text(1, ID_MAX)
      .optional()
      .meta({ description: 'a link of this tool in the course; it cannot be changed', example: 'link-1' }),
    start_at: NamedTime.optional(),
    end_at: NamedTime.optional(),
  })
  .meta({ id: 'NewLineItem' });
export type NewLineItem = z.output<typeof NewLineItem>;

const { limit, cursor } = pageQueryOf(['label']);
/** The LMS decides the order of its own items. */
export const LmsPageQuery = z.object({ limit, cursor });

export const LineItemQuery = LmsPageQuery.extend({
  resource_id: text(1, ID_MAX).optional().meta({ example: 'essay-1' }),
  tag: text(1, ID_MAX).optional().meta({ example: 'grade' }),
  resource_link_id: text(1, ID_MAX).optional().meta({ example: 'link-1' }),
});
export type LineItemQuery = z.output<typeof LineItemQuery>;
