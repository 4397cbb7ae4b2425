import { listPage, type Page } from '../../api/paging.ts';
import type { Database } from '../../store/postgres/database.ts';
import { foldedKey, integerKey, keyset, type Parameters, timeKey } from '../../store/postgres/keyset.ts';
import type { User } from '../../store/postgres/tables.ts';
import { USER_SORT_FIELDS, type UserQuery, type UserView } from './users.schema.ts';
import { presentUser } from './users.view.ts';

/** The public `id` sorts by the internal one, the order of creation. */
const USERS = keyset<User, (typeof USER_SORT_FIELDS)[number]>({
  keys: {
    created_at: timeKey('created_at', ({ createdAt }) => createdAt),
    updated_at: timeKey('updated_at', ({ updatedAt }) => updatedAt),
    email: foldedKey('email', ({ email }) => email),
    username: foldedKey('username', ({ username }) => username),
    storage_used: integerKey('storage_used', ({ storageUsed }) => storageUsed),
    id: integerKey('id', ({ id }) => id),
  },
  fields: USER_SORT_FIELDS,
  fallback: '-created_at',
  tieBreaker: 'id',
});

/** All columns of a `User`, for hand-written statements. */
export const USER_COLUMNS = `id, uuid, email, username, display_name AS "displayName", contact_email AS "contactEmail", roles,
  tenant_id AS "tenantId", storage_quota AS "storageQuota", storage_used AS "storageUsed", is_active AS "isActive",
  is_system AS "isSystem", password_hash AS "passwordHash", revision, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Runs one statement. The list omits the system user. */
export const listUsers = (db: Database, query: UserQuery, tenantId: string): Promise<Page<UserView>> =>
  listPage(db, query, {
    keyset: USERS,
    columns: USER_COLUMNS,
    from: 'users',
    where: (params) => filters(query, params),
    present: (user) => presentUser(user, tenantId),
  });

function filters(query: UserQuery, params: Parameters): string[] {
  const conditions = ['NOT is_system'];
  if (query.role !== undefined) conditions.push(`${params.add(query.role)} = ANY (roles)`);
  if (query.email !== undefined) conditions.push(`lower(email) = lower(${params.add(query.email)})`);
  if (query.username !== undefined) conditions.push(`lower(username) = lower(${params.add(query.username)})`);
  if (query.is_active !== undefined) conditions.push(`is_active = ${params.add(query.is_active)}`);
  if (query.q !== undefined) {
    const pattern = params.add(`%${query.q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
    const columns = ['email', 'username', 'display_name', 'contact_email'];
    conditions.push(`(${columns.map((column) => `${column} ILIKE ${pattern}`).join(' OR ')})`);
  }
  return conditions;
}
