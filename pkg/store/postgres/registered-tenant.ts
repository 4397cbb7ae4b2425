/** The resource to which a tenant belongs. A recreated namespace has another uid. */
export interface Owner {
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly name: string;
}

export type TenantState = 'active' | 'retained' | 'deleting';

/** The credentials that the operator generates for a tenant and replaces by a rotation. */
export const CREDENTIALS = ['database', 'redis', 'storage', 'signing', 'data'] as const;
export type CredentialName = (typeof CREDENTIALS)[number];

export interface CredentialState {
  /** RFC 3339: the time when the newest value was made. */
  readonly changedAt: string;
  /** The step of the running rotation; null if none is running. */
  readonly step: string | null;
  /** RFC 3339: the time since which it is at this step. */
  readonly stepAt: string;
  /** The number of rotations so far. */
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
  /** True if it adopted retained data, until `endAdoption`, also after a crash. */
  readonly isAdopting: boolean;
  /** The connections counted for its role, never fewer than the role may hold; null if not known yet. */
  readonly connections: number | null;
  /**
   * Set while its rows are being copied to a shard (moves.ts). While the move is alive, nothing else changes its role or its
   * schema. Null: no move.
   */
  readonly move: { readonly to: string; readonly isAlive: boolean } | null;
  /** The shard from which it has moved, and from which its data are not yet removed. */
  readonly formerShard: string | null;
  /** True if no rollout of a new image begins, for any tenant. */
  readonly areRolloutsPaused: boolean;
  /** RFC 3339: the time since which it is in its state, so also the time of its adoption. */
  readonly since: string;
  /** The credentials that were rotated, or are being rotated. */
  readonly credentials: Readonly<Partial<Record<CredentialName, CredentialState>>>;
}
