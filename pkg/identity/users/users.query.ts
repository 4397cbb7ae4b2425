import type { Page, PageRequest } from '../../api/paging.ts';
import { page, pageRequest } from '../../api/paging.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { User } from '../../store/postgres/tables.ts';
import { presentUser, USER_SORT_FIELDS, type UserQuery, type UserView } from './users.schema.ts';

type SortField = (typeof USER_SORT_FIELDS)[number];

interface SortKind {
  readonly sql: string;
  /** What a cursor holds of it. */
  readonly value: (user: User) => string | number;
  /** That, in a place of the statement, as it is compared. Postgres folds both sides: JavaScript has another lower case (ς, i̇). */
  readonly compared: (place: string) => string;
}

/** How a sort field is compared. `id` stands for the internal id, the order of creation. */
const SORT: Readonly<Record<SortField, SortKind>> = {
  created_at: { sql: 'created_at', value: (user) => user.createdAt.toISOString(), compared: (place) => `${place}::timestamptz` },
  updated_at: { sql: 'updated_at', value: (user) => user.updatedAt.toISOString(), compared: (place) => `${place}::timestamptz` },
  email: { sql: 'lower(email)', value: (user) => user.email, compared: (place) => `lower(${place}::text)` },
  username: { sql: 'lower(username)', value: (user) => user.username, compared: (place) => `lower(${place}::text)` },
  id: { sql: 'id', value: (user) => user.id, compared: (place) => `${place}::bigint` },
};

/** All that `User` has, for statements of one's own. */
export const USER_COLUMNS = `id, uuid, email, username, display_name AS "displayName", contact_email AS "contactEmail", roles, tenant_id AS "tenantId", storage_quota AS "storageQuota",
  storage_used AS "storageUsed", is_active AS "isActive", is_system AS "isSystem", password_hash AS "passwordHash", revision, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** One statement. The system user is nobody's to see. */
export async function listUsers(db: Database, query: UserQuery, tenantId: string): Promise<Page<UserView>> {
  const request = pageRequest(query, { fields: USER_SORT_FIELDS, fallback: '-created_at', tieBreaker: 'id' });
  const params: unknown[] = [];
  const place = (value: unknown): string => `$${params.push(value)}`;
  const conditions = ['NOT is_system'];
  if (query.role !== undefined) conditions.push(`${place(query.role)} = ANY (roles)`);
  if (query.email !== undefined) conditions.push(`lower(email) = lower(${place(query.email)})`);
  if (query.username !== undefined) conditions.push(`lower(username) = lower(${place(query.username)})`);
  if (query.is_active !== undefined) conditions.push(`is_active = ${place(query.is_active)}`);
  if (query.q !== undefined) {
    const pattern = place(`%${query.q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
    conditions.push(
      `(email ILIKE ${pattern} OR username ILIKE ${pattern} OR display_name ILIKE ${pattern} OR contact_email ILIKE ${pattern})`,
    );
  }
  if (request.after) conditions.push(after(request, request.after, place));
  const order = request.sort.map(({ field, descending }) => `${SORT[field].sql} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const rows = await db.query<User>(
    `SELECT ${USER_COLUMNS} FROM users WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${place(request.limit + 1)}`,
    params,
  );
  return page(
    request,
    rows,
    (user) => presentUser(user, tenantId),
    (user) => request.sort.map(({ field }) => SORT[field].value(user)),
  );
}

/** Keyset condition for keys of mixed directions: (a > x) OR (a = x AND b < y) OR … */
function after(request: PageRequest<SortField>, values: readonly (string | number | null)[], place: (value: unknown) => string): string {
  const places = request.sort.map(({ field }, index) => SORT[field].compared(place(values[index])));
  const branches = request.sort.map(({ field, descending }, index) => {
    const equal = request.sort.slice(0, index).map((key, earlier) => `${SORT[key.field].sql} = ${places[earlier]}`);
    return `(${[...equal, `${SORT[field].sql} ${descending ? '<' : '>'} ${places[index]}`].join(' AND ')})`;
  });
  return `(${branches.join(' OR ')})`;
}
