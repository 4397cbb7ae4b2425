import type { Sql } from './pool.ts';
import type { TenantState } from './registered-tenant.ts';

/** A namespace of the cluster. */
export interface NamespaceUid {
  readonly name: string;
  readonly uid: string;
}

/** A tenant whose namespace was deleted: a namespace with its name, if there is one, has another uid. */
export interface LeftTenant {
  readonly slug: string;
  readonly state: TenantState;
  readonly namespace: string;
  /** The name of its Tenant. */
  readonly name: string;
}

const LEFT = 't.slug, t.state, t.namespace, t.name';
/** The current namespaces, from parameters 1 and 2. */
const PRESENT = 'unnest($1::text[], $2::text[]) AS present (name, uid)';
const parameters = (present: readonly NamespaceUid[]): string[][] => [
  present.map(({ name }) => name),
  present.map(({ uid }) => uid),
];

/** Returns the tenants that are in none of these namespaces, which are all that the cluster has. */
export async function leftTenants(sql: Sql, present: readonly NamespaceUid[]): Promise<LeftTenant[]> {
  return sql.query<LeftTenant>(
    `SELECT ${LEFT} FROM registry.tenants t
     WHERE NOT EXISTS (SELECT FROM ${PRESENT} WHERE present.name = t.namespace AND present.uid = t.namespace_uid)
     ORDER BY t.namespace, t.slug`,
    parameters(present),
  );
}

/** Moves the tenants of deleted namespaces to those with the same names. Returns the moved tenants; repeating it is harmless. */
export async function reclaimTenants(sql: Sql, present: readonly NamespaceUid[]): Promise<LeftTenant[]> {
  return sql.query<LeftTenant>(
    `UPDATE registry.tenants t SET namespace_uid = present.uid FROM ${PRESENT}
     WHERE present.name = t.namespace AND present.uid <> t.namespace_uid RETURNING ${LEFT}`,
    parameters(present),
  );
}
