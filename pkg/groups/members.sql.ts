import type { Actor } from '../api/actor.ts';
import { listPage, type Page } from '../api/paging.ts';
import { integerKey, keyset, nameKey, timeKey } from '../store/postgres/keyset.ts';
import type { Sql } from '../store/postgres/pool.ts';
import { type GroupOrigin, seesAddresses } from './groups.policy.ts';
import { GROUP_ORIGIN, seenBy } from './groups.sql.ts';
import { type GroupMember, MEMBER_SORT_FIELDS, type MemberQuery } from './members.schema.ts';

interface MemberRow {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly email: string;
  readonly addedAt: Date;
}

const NAME = 'coalesce(u.display_name, u.username)';

/** The user's internal id breaks ties; a query cannot name it as a field. */
const MEMBERS = keyset<MemberRow, (typeof MEMBER_SORT_FIELDS)[number] | 'id'>({
  keys: {
    name: nameKey(NAME, ({ name }) => name),
    added_at: timeKey('m.created_at', ({ addedAt }) => addedAt),
    id: integerKey('m.user_id', ({ id }) => id),
  },
  fields: MEMBER_SORT_FIELDS,
  fallback: 'name',
  tieBreaker: 'id',
});

/** Returns a page of members, empty if the actor may not see the group. Runs one statement. */
export const listMembers = (sql: Sql, actor: Actor, group: string, query: MemberQuery): Promise<Page<GroupMember>> =>
  listPage(sql, query, {
    keyset: MEMBERS,
    columns: `m.user_id AS id, u.uuid, ${NAME} AS name, u.email, m.created_at AS "addedAt"`,
    from: 'groups g JOIN group_members m ON m.group_id = g.id JOIN users u ON u.id = m.user_id',
    where: (params) => [`g.uuid = ${params.add(group)}`, ...seenBy(actor, params)],
    present: ({ uuid, name, email, addedAt }) => ({
      user: { id: uuid, name, email: seesAddresses(actor) ? email : null },
      added_at: addedAt.toISOString(),
    }),
  });

/** A group, and a user who is or may become its member; `userId` is null if the user does not exist. */
interface Membership extends GroupOrigin {
  readonly groupId: number;
  readonly userId: number | null;
}

/** Finds a membership, and locks the group against deletion until the end of the transaction. Runs one statement. */
export async function findMembership(sql: Sql, group: string, user: string): Promise<Membership | undefined> {
  const [row] = await sql.query<Membership>(
    `SELECT g.id AS "groupId", ${GROUP_ORIGIN}, u.id AS "userId"
     FROM groups g LEFT JOIN users u ON u.uuid = $2 AND NOT u.is_system WHERE g.uuid = $1 FOR KEY SHARE OF g`,
    [group, user],
  );
  return row;
}

/** Selects the grants that the member gave by virtue of the group's grants. */
export const GIVEN_THROUGH_GROUP = `
  SELECT p.id FROM permissions p JOIN permissions s ON s.id = p.granted_through WHERE s.group_id = $1 AND p.granted_by = $2`;
