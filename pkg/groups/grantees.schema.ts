import { z } from 'zod';
import { pageOf, pageQueryOf } from '../api/paging.ts';
import { text, Uuid } from '../api/schemas.ts';

/** Somebody to whom files and folders can be granted. */
export const Grantee = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('user'),
        id: Uuid,
        name: z.string().meta({ example: 'Ada Okafor' }),
        email: z.string().nullable().meta({
          description: 'null: the caller may not list users, and did not search for this address',
          example: 'ada@example.org',
        }),
      })
      .meta({ id: 'GranteeUser' }),
    z
      .object({
        type: z.literal('group'),
        id: Uuid,
        name: z.string().meta({ example: 'History, first year' }),
        member_count: z.int().min(0).meta({ example: 24 }),
      })
      .meta({ id: 'GranteeGroup' }),
  ])
  .meta({ id: 'Grantee' });
export type Grantee = z.output<typeof Grantee>;

export const GranteePage = pageOf(Grantee).meta({ id: 'GranteePage' });
export const GRANTEE_SORT_FIELDS = ['name'] as const;
export const GranteeQuery = z.object({
  ...pageQueryOf(GRANTEE_SORT_FIELDS),
  q: text(1, 255).optional().meta({
    description:
      'part of the name, in any case; a whole e-mail address finds its person. For administrators also part of the address',
    example: 'ada',
  }),
});
export type GranteeQuery = z.output<typeof GranteeQuery>;
