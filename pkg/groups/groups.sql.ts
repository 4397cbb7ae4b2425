import type { Actor } from '../api/actor.ts';
import { listPage, type Page } from '../api/paging.ts';
import { integerKey, keyset, nameKey, Parameters, timeKey } from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { seesAllGroups } from './groups.policy.ts';
import { GROUP_SORT_FIELDS, type GroupQuery, type GroupView } from './groups.schema.ts';
import { type GroupRow, presentGroup } from './groups.view.ts';

/**
 * The columns of a GroupOrigin for a group `g`. Removing a registration keeps its platform, inactive, if people came from it:
 * registering it again brings them back.
 */
export const GROUP_ORIGIN = `g.context_id AS "contextId",
  EXISTS (SELECT FROM lti_platforms p WHERE p.id = g.platform_id AND p.is_active) AS "isRegistered"`;

/** The columns of a group `g`. The query counts members only for the groups of the page. */
const GROUP_COLUMNS = `g.id, g.uuid, g.name, g.description, ${GROUP_ORIGIN}, g.revision, g.created_at AS "createdAt",
  g.updated_at AS "updatedAt",
  (SELECT count(*)::int FROM group_members m WHERE m.group_id = g.id) AS "memberCount"`;

const GROUPS = keyset<GroupRow, (typeof GROUP_SORT_FIELDS)[number] | 'id'>({
  keys: {
    name: nameKey('g.name', ({ name }) => name),
    created_at: timeKey('g.created_at', ({ createdAt }) => createdAt),
    updated_at: timeKey('g.updated_at', ({ updatedAt }) => updatedAt),
    id: integerKey('g.id', ({ id }) => id),
  },
  fields: GROUP_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

/** Returns the condition that the actor may see group `g`. */
export const seenBy = (actor: Actor, params: Parameters): string[] =>
  seesAllGroups(actor) ? [] : [`g.id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = ${params.add(actor.userId)})`];

/** Returns a page of the groups that the actor may see. Runs one statement. */
export const listGroups = (sql: Sql, actor: Actor, query: GroupQuery): Promise<Page<GroupView>> =>
  listPage(sql, query, {
    keyset: GROUPS,
    columns: GROUP_COLUMNS,
    from: 'groups g',
    where: (params) => [...seenBy(actor, params), ...filters(query, params)],
    present: presentGroup,
  });

function filters(query: GroupQuery, params: Parameters): string[] {
  const conditions: string[] = [];
  if (query.q !== undefined) conditions.push(`g.name ILIKE ${params.add(`%${query.q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)}`);
  if (query.kind !== undefined) conditions.push(`g.context_id IS ${query.kind === 'manual' ? '' : 'NOT '}NULL`);
  if (query.member !== undefined)
    conditions.push(
      `g.id IN (SELECT m.group_id FROM group_members m JOIN users u ON u.id = m.user_id
          WHERE u.uuid = ${params.add(query.member)})`,
    );
  return conditions;
}

/** Returns the group if the actor may see it. Runs one statement. */
export async function findGroup(sql: Sql, actor: Actor, uuid: string): Promise<GroupRow | undefined> {
  const params = new Parameters();
  const conditions = [`g.uuid = ${params.add(uuid)}`, ...seenBy(actor, params)];
  const [row] = await sql.query<GroupRow>(
    `SELECT ${GROUP_COLUMNS} FROM groups g WHERE ${conditions.join(' AND ')}`,
    params.values,
  );
  return row;
}

/**
 * Locks a group until the end of the transaction. `change`: nobody else can change or delete it. `delete`: it cannot get a member
 * or a grant either. Runs one statement.
 */
export async function lockGroup(sql: Sql, uuid: string, to: 'change' | 'delete'): Promise<GroupRow | undefined> {
  const lock = to === 'change' ? 'FOR NO KEY UPDATE' : 'FOR UPDATE';
  const [row] = await sql.query<GroupRow>(`SELECT ${GROUP_COLUMNS} FROM groups g WHERE g.uuid = $1 ${lock} OF g`, [uuid]);
  return row;
}
