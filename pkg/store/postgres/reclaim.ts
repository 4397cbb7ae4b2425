import type { Sql } from './pool.ts';
import type { TenantState } from './registered-tenant.ts';

/** A namespace as the cluster has it. */
export interface NamespaceUid {
  readonly name: string;
  readonly uid: string;
}

/** A tenant whose namespace is no more: where there is one of its name, it is another one by its uid. */
export interface LeftTenant {
  readonly slug: string;
  readonly state: TenantState;
  readonly namespace: string;
  /** Of its Tenant. */
  readonly name: string;
}

const LEFT = 't.slug, t.state, t.namespace, t.name';
/** The present namespaces, of parameters 1 and 2. */
const PRESENT = 'unnest($1::text[], $2::text[]) AS present (name, uid)';
const parameters = (present: readonly NamespaceUid[]): string[][] => [
  present.map(({ name }) => name),
  present.map(({ uid }) => uid),
];

/** The tenants of none of these namespaces, which are all that the cluster has. */
export async function leftTenants(sql: Sql, present: readonly NamespaceUid[]): Promise<LeftTenant[]> {
  return sql.query<LeftTenant>(
    `SELECT ${LEFT} FROM registry.tenants t
     WHERE NOT EXISTS (SELECT FROM ${PRESENT} WHERE present.name = t.namespace AND present.uid = t.namespace_uid) ORDER BY t.namespace, t.slug`,
    parameters(present),
  );
}

/** Gives the tenants of former namespaces to those of the same names. Gives those that it gave; twice is harmless. */
export async function reclaimTenants(sql: Sql, present: readonly NamespaceUid[]): Promise<LeftTenant[]> {
  return sql.query<LeftTenant>(
    `UPDATE registry.tenants t SET namespace_uid = present.uid FROM ${PRESENT}
     WHERE present.name = t.namespace AND present.uid <> t.namespace_uid RETURNING ${LEFT}`,
    parameters(present),
  );
}
