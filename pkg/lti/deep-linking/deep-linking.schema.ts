import { z } from 'zod';
import { text, Timestamp, Uuid } from '../../api/schemas.ts';
import { ITEM_TYPES } from './offer.policy.ts';

const ITEMS_MAX = 100;
const TITLE_MAX = 255;
const TEXT_MAX = 1_000;
const SCORE_MAX = 999.99;

const ItemTypeOf = z.enum(ITEM_TYPES).meta({ example: 'ltiResourceLink' });
const Folder = z.object({ id: Uuid, name: z.string().meta({ example: 'History' }), may_write: z.boolean() });

/** A deep linking request as the picker shows it. */
export const PickerView = z
  .object({
    launch_id: Uuid,
    user: z.object({ id: Uuid }),
    context: z
      .object({ title: z.string().meta({ example: 'History' }) })
      .nullable()
      .describe('the course; null: none'),
    folder: Folder.nullable().describe("the course's folder, where the caller may read it"),
    types: z.array(ItemTypeOf).describe('types of items that the LMS accepts from the caller; none: they can only cancel'),
    media_types: z
      .array(z.string().meta({ example: 'application/pdf' }))
      .nullable()
      .describe('media types that a file may have, `type/*` for all of a type; null: any'),
    multiple: z.boolean().describe('whether the LMS accepts several items'),
    own_only: z.boolean().describe('whether only files of the caller are accepted: a learner hands in'),
    line_items: z.boolean().describe('whether a link may bring a column of the grade book'),
    answered_at: Timestamp.nullable().describe('when the LMS was sent an answer; null: not yet'),
    expires_at: Timestamp.nullable().describe('end of the session'),
  })
  .meta({ id: 'Picker' });
export type PickerView = z.output<typeof PickerView>;

const PickedLineItem = z
  .strictObject({
    label: text(1, TITLE_MAX).optional().meta({ description: "default: the item's title", example: 'Essay' }),
    score_maximum: z.number().gt(0).max(SCORE_MAX).meta({ example: 10 }),
    resource_id: text(1, TITLE_MAX).optional().meta({ example: 'essay-1' }),
    tag: text(1, TITLE_MAX).optional().meta({ example: 'final' }),
  })
  .meta({ id: 'PickedLineItem' });

export const PickedItem = z
  .strictObject({
    type: ItemTypeOf,
    file_id: Uuid,
    title: text(1, TITLE_MAX).optional().meta({ description: "default: the file's name", example: 'Reading of week 1' }),
    text: text(0, TEXT_MAX).optional().meta({ description: 'default: the title', example: 'Please read before Tuesday.' }),
    line_item: PickedLineItem.optional().describe('a column of the grade book for a link of this tool'),
  })
  .meta({ id: 'PickedItem' });
export type PickedItem = z.output<typeof PickedItem>;

/** An empty list means that the person cancelled. */
export const NewAnswer = z.strictObject({ items: z.array(PickedItem).max(ITEMS_MAX) }).meta({ id: 'NewPickerAnswer' });
export type NewAnswer = z.output<typeof NewAnswer>;

export const AnswerView = z
  .object({
    method: z.enum(['get', 'post']).meta({
      description:
        'how the browser takes the answer to the LMS: get opens `url`; post sends a form with the single field JWT to it',
      example: 'post',
    }),
    url: z.url().meta({ example: 'https://lms.example.org/deep-links/return' }),
    jwt: z.string().meta({
      description: 'the signed LtiDeepLinkingResponse; with get, `url` holds it too',
      example: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln',
    }),
  })
  .meta({ id: 'PickerAnswer' });
export type AnswerView = z.output<typeof AnswerView>;
