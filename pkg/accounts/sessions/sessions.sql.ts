import type { Actor } from '../../api/actor.ts';
import { SESSION_LONGEST_MS } from '../../api/lifetimes.ts';
import { keyset, Parameters, textKey, timeKey } from '../../store/postgres/keyset.ts';
import { SESSION_SORT_FIELDS } from './sessions.schema.ts';

export interface SessionRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly launchId: string | null;
}

export const SESSION_COLUMNS = `s.id, s.created_at AS "createdAt", s.last_activity AS "lastActivity", s.ip,
  s.user_agent AS "userAgent",
  s.launch_id AS "launchId"`;

export const SESSIONS = keyset<SessionRow, (typeof SESSION_SORT_FIELDS)[number] | 'id'>({
  keys: { created_at: timeKey('s.created_at', ({ createdAt }) => createdAt), id: textKey('s.id::text', ({ id }) => id) },
  fields: SESSION_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/**
 * Selects the active sessions `s` that the actor may see and end: all of their own, but only sessions of launches for a launch's
 * session.
 */
export const ownLive = (actor: Actor, now: Date, params: Parameters): string[] => [
  `s.user_id = ${params.add(actor.userId)}`,
  's.ended_at IS NULL',
  `s.expires_at > ${params.add(now)}`,
  `s.created_at > ${params.add(new Date(now.getTime() - SESSION_LONGEST_MS))}`,
  ...(actor.launchId === undefined ? [] : ['s.launch_id IS NOT NULL']),
];

/** Ends the session with this id, or all except that of the request. Returns their ids. */
export function endOwn(
  actor: Actor,
  which: { readonly id: string } | 'others',
  now: Date,
): { sql: string; params: readonly unknown[] } {
  const params = new Parameters();
  const wanted = which === 'others' ? `s.id <> ${params.add(actor.sessionId)}` : `s.id = ${params.add(which.id)}`;
  const conditions = [...ownLive(actor, now, params), wanted].join(' AND ');
  return { sql: `UPDATE sessions s SET ended_at = ${params.add(now)} WHERE ${conditions} RETURNING s.id`, params: params.values };
}
