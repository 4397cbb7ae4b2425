/** The resource that a tenant belongs to. A recreated namespace has another uid. */
export interface Owner {
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly name: string;
}

export type TenantState = 'active' | 'retained' | 'deleting';

export interface RegisteredTenant {
  /** A decimal string. */
  readonly tenantId: string;
  readonly slug: string;
  readonly shard: string;
  readonly state: TenantState;
  readonly owner: Owner;
  /** Without the hosts that it left. */
  readonly hosts: readonly string[];
  /** It adopted retained data; true until `endAdoption`, also after a crash. */
  readonly isAdopting: boolean;
  /** How many connections are counted for its role: never fewer than the role may hold; null: not known yet. */
  readonly connections: number | null;
}
