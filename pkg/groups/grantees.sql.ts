import type { Actor } from '../api/actor.ts';
import { listPage, type Page } from '../api/paging.ts';
import { keyset, nameKey, type Parameters, textKey } from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { GRANTEE_SORT_FIELDS, type Grantee, type GranteeQuery } from './grantees.schema.ts';
import { seesAddresses, seesAllGroups } from './groups.policy.ts';

interface GranteeRow {
  readonly type: 'user' | 'group';
  readonly uuid: string;
  readonly name: string;
  /** Null for a group. */
  readonly email: string | null;
  readonly memberCount: number;
}

const GRANTEES = keyset<GranteeRow, (typeof GRANTEE_SORT_FIELDS)[number] | 'id'>({
  keys: {
    name: nameKey('x.name', ({ name }) => name),
    id: textKey('x.uuid::text', ({ uuid }) => uuid),
  },
  fields: GRANTEE_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

const PEOPLE_AND_GROUPS = `(
  SELECT 'user' AS type, u.id, u.uuid, coalesce(u.display_name, u.username) AS name, u.email
    FROM users u WHERE u.is_active AND NOT u.is_system
  UNION ALL SELECT 'group', g.id, g.uuid, g.name, NULL FROM groups g) x`;

/**
 * Returns a page of the people and groups that the actor may find to grant access to, themselves left out. Administrators find
 * everybody. Others find their groups, the members of those by name, and anybody whose whole e-mail address they know. Runs one
 * statement.
 */
export function listGrantees(sql: Sql, actor: Actor, query: GranteeQuery): Promise<Page<Grantee>> {
  return listPage(sql, query, {
    keyset: GRANTEES,
    columns: `x.type, x.uuid, x.name, x.email,
      CASE x.type WHEN 'group' THEN (SELECT count(*)::int FROM group_members m WHERE m.group_id = x.id) ELSE 0 END
        AS "memberCount"`,
    from: PEOPLE_AND_GROUPS,
    where: (params) => [found(actor, query, params)],
    present: (row) => present(actor, query, row),
  });
}

/** Returns the condition for groups, and that for people. */
function found(actor: Actor, { q }: GranteeQuery, params: Parameters): string {
  const me = params.add(actor.userId);
  const pattern = q === undefined ? undefined : params.add(`%${q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
  const isNamed = pattern === undefined ? 'true' : `x.name ILIKE ${pattern}`;
  const mine = `SELECT m.group_id FROM group_members m WHERE m.user_id = ${me}`;
  const groups = seesAllGroups(actor) ? isNamed : `(${isNamed} AND x.id IN (${mine}))`;
  const people = seesAddresses(actor)
    ? `(${isNamed}${pattern === undefined ? '' : ` OR x.email ILIKE ${pattern}`})`
    : `(${isNamed} AND x.id IN (SELECT o.user_id FROM group_members o WHERE o.group_id IN (${mine}))
        ${orAddressed(q, params)})`;
  return `CASE x.type WHEN 'group' THEN ${groups} ELSE x.id <> ${me} AND ${people} END`;
}

/** Returns true if people are looked up by `q` as their whole address, too. */
export const isAddress = (q: string | undefined): q is string => q?.includes('@') === true;

const orAddressed = (q: string | undefined, params: Parameters): string =>
  !isAddress(q) ? '' : `OR lower(x.email) = lower(${params.add(q)})`;

function present(actor: Actor, { q }: GranteeQuery, { type, uuid, name, email, memberCount }: GranteeRow): Grantee {
  if (type === 'group') return { type, id: uuid, name, member_count: memberCount };
  const isKnown = seesAddresses(actor) || email?.toLowerCase() === q?.toLowerCase();
  return { type, id: uuid, name, email: isKnown ? email : null };
}
