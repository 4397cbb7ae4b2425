import type { Clock } from '../../runtime/clock.ts';
import type { Tenant } from '../kinds.ts';
import type { OperatorSettings } from '../settings.ts';
import { MAX_SURGE, runningReplicasOf } from './replicas.ts';

/** For a person with psql, and for a pod that ends late. */
const SPARE_CONNECTIONS = 2;

/** How many connections the tenant's role may hold (docs/design/tenancy-and-isolation.md, Postgres); none while it is suspended. */
export const connectionsOf = (tenant: Tenant): number =>
  tenant.spec.suspended ? 0 : tenant.spec.database.poolSize * (runningReplicasOf(tenant) + MAX_SURGE) + SPARE_CONNECTIONS;

/** Longer than the grace period of a pod (children/deployment.ts). */
export const ENDING_MS = 60_000;
/** A rollout that has not ended by its deadline (children/deployment.ts), and its last pod. */
export const ROLLOUT_MS = 300_000 + ENDING_MS;

/**
 * Pods that are to hold fewer connections keep what they have while they end, for a bounded time: whoever may create pods in its namespace can create
 * one that never ends.
 */
export class EndingPods {
  readonly #clock: Clock;
  /** Monotonic, by tenant id. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time, in ms, begins with the first call. */
  mayLast(tenantId: string, limitMs: number): boolean {
    const until = this.#until.get(tenantId) ?? this.#clock.monotonic() + limitMs;
    this.#until.set(tenantId, until);
    return this.#clock.monotonic() < until;
  }

  /** The role has its new limit. */
  end(tenantId: string): void {
    this.#until.delete(tenantId);
  }
}

/** Why a Tenant asks for more than any may have; undefined: it does not. */
export function connectionsRefusal(tenant: Tenant, settings: OperatorSettings): { reason: string; message: string } | undefined {
  const wanted = connectionsOf(tenant);
  const most = settings.maxConnectionsPerTenant;
  if (wanted <= most) return undefined;
  const { poolSize } = tenant.spec.database;
  const replicas = runningReplicasOf(tenant);
  return {
    reason: 'ConnectionsExceeded',
    message: `spec.database.poolSize ${poolSize} × (spec.replicas ${replicas} + ${MAX_SURGE} during a rollout) + ${SPARE_CONNECTIONS} are ${wanted} connections to Postgres; this operator allows a tenant ${most} (CARREL_MAX_CONNECTIONS_PER_TENANT)`,
  };
}
