/** The resource that a tenant belongs to. A recreated namespace has another uid. */
export interface Owner {
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly name: string;
}

export type TenantState = 'active' | 'retained' | 'deleting';

/** What the operator generates for a tenant and replaces by a rotation. */
export const CREDENTIALS = ['database', 'redis', 'storage', 'signing', 'data'] as const;
export type CredentialName = (typeof CREDENTIALS)[number];

export interface CredentialState {
  /** RFC 3339: when the newest value was made. */
  readonly changedAt: string;
  /** The step of the rotation that runs; null: none. */
  readonly step: string | null;
  /** RFC 3339: since when it is at this step. */
  readonly stepAt: string;
  /** How often it was replaced by a rotation. */
  readonly generation: number;
}

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
  /**
   * Its rows are being copied to a shard (moves.ts): while that is alive nobody else changes its role or its schema. Null: they
   * are not.
   */
  readonly move: { readonly to: string; readonly isAlive: boolean } | null;
  /** The shard from which it has moved, and where it is not removed yet. */
  readonly formerShard: string | null;
  /** No rollout of a new image begins, of any tenant. */
  readonly areRolloutsPaused: boolean;
  /** RFC 3339: since when it is in its state, so also when it was adopted. */
  readonly since: string;
  /** Of those that were rotated, or are. */
  readonly credentials: Readonly<Partial<Record<CredentialName, CredentialState>>>;
}
