import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Timestamp, Uuid } from '../../api/schemas.ts';

/** An active session of the caller. */
export const SessionView = z
  .object({
    id: Uuid,
    created_at: Timestamp,
    last_activity: Timestamp,
    ip: z.string().nullable().meta({
      description: 'the address that opened the session; for IPv6 its /64 network; null: unknown',
      example: '192.0.2.7',
    }),
    user_agent: z.string().nullable().meta({
      description: 'the User-Agent that opened the session; null: it sent none',
      example: 'Mozilla/5.0 (X11; Linux x86_64)',
    }),
    current: z.boolean().describe('true: the session of this request'),
    launch_id: z
      .string()
      .nullable()
      .meta({ description: 'the launch that opened the session; null: the user signed in', example: null }),
  })
  .meta({ id: 'Session' });
export type SessionView = z.output<typeof SessionView>;

export const SessionPage = pageOf(SessionView).meta({ id: 'SessionPage' });
export const SESSION_SORT_FIELDS = ['created_at'] as const;
export const SessionQuery = z.object(pageQueryOf(SESSION_SORT_FIELDS));
export type SessionQuery = z.output<typeof SessionQuery>;
