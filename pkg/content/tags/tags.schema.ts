import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { changesOf, Etag, label, Timestamp, Uuid } from '../../api/schemas.ts';

/** Characters. */
export const TAG_NAME_MAX = 100;

const COLOR = /^#[0-9A-Fa-f]{6}$/;

/** docs/design/records.md, Share, tag, metadata. */
export const TagView = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: 'To read' }),
    color: z.string().regex(COLOR).nullable().meta({ example: '#3366cc' }),
    owner_id: Uuid,
    files_count: z
      .int()
      .min(0)
      .meta({ description: 'files with this tag that its owner may see, the trash left out', example: 3 }),
    created_at: Timestamp,
    updated_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'Tag' });
export type TagView = z.output<typeof TagView>;

export const TagPage = pageOf(TagView).meta({ id: 'TagPage' });
export const TAG_SORT_FIELDS = ['name', 'created_at', 'updated_at'] as const;
export const TagQuery = z.object(pageQueryOf(TAG_SORT_FIELDS));
export type TagQuery = z.output<typeof TagQuery>;

export const TagName = label(TAG_NAME_MAX).meta({
  description: "unique among the owner's tags, in any case of letters",
  example: 'To read',
});
const Color = z
  .string()
  .regex(COLOR, 'must be # and six hexadecimal digits')
  .toLowerCase()
  .meta({ pattern: COLOR.source, example: '#3366cc' })
  .nullable();

export const NewTag = z.object({ name: TagName, color: Color.optional() }).meta({ id: 'NewTag' });
export type NewTag = z.output<typeof NewTag>;

/** For PATCH and PUT: given fields are changed, absent fields stay. */
export const TagChanges = changesOf(z.object({ name: TagName, color: Color })).meta({ id: 'TagChanges' });
export type TagChanges = z.output<typeof TagChanges>;
