import type { Clock } from '../../../runtime/clock.ts';
import type { Tenant } from '../../kinds.ts';
import type { OperatorSettings } from '../../settings.ts';
import { MAX_SURGE, mostReplicasOf } from '../workload/replicas.ts';

/** Reserved for a person with psql, and for a pod that ends late. */
const SPARE_CONNECTIONS = 2;

/**
 * Returns how many connections the tenant's role may hold (docs/design/tenancy-and-isolation.md, Postgres); 0 while it is
 * suspended.
 */
export const connectionsOf = (tenant: Tenant): number =>
  tenant.spec.suspended ? 0 : tenant.spec.database.poolSize * (mostReplicasOf(tenant) + MAX_SURGE) + SPARE_CONNECTIONS;

/** ms; longer than the grace period of a pod (children/deployment.ts). */
const ENDING_MS = 60_000;

/**
 * The longest time that pods may take to end, in ms: the pods of a suspended tenant, and those of a rollout, which has its
 * deadline (children/deployment.ts) and the time of its last pod.
 */
const LIMITS_MS = { suspension: ENDING_MS, rollout: 300_000 + ENDING_MS };

/** The reason why pods end. */
type EndingReason = keyof typeof LIMITS_MS;

/**
 * Pods that must hold fewer connections keep theirs while they end, for a limited time: a user with access to the namespace can
 * create a pod that never ends. Each reason has its own time, so suspending and resuming a tenant repeatedly prolongs nothing.
 */
export class EndingPods {
  readonly #clock: Clock;
  /** The monotonic end of each reason's time, by tenant id. */
  readonly #until = new Map<string, Partial<Record<EndingReason, number>>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time begins with the first call for the reason. */
  mayLast(tenantId: string, reason: EndingReason): boolean {
    const now = this.#clock.monotonic();
    const until = { [reason]: now + LIMITS_MS[reason], ...this.#until.get(tenantId) };
    this.#until.set(tenantId, until);
    return now < (until[reason] ?? 0);
  }

  /** Must be called once the role has its new limit. */
  end(tenantId: string): void {
    this.#until.delete(tenantId);
  }
}

/** Returns the reason why a Tenant requests too many connections, or undefined if it does not. */
export function connectionsRefusal(tenant: Tenant, settings: OperatorSettings): { reason: string; message: string } | undefined {
  const wanted = connectionsOf(tenant);
  const most = settings.maxConnectionsPerTenant;
  if (wanted <= most) return undefined;
  const { poolSize } = tenant.spec.database;
  const replicas = mostReplicasOf(tenant);
  const field = tenant.spec.autoscaling ? 'spec.autoscaling.max' : 'spec.replicas';
  return {
    reason: 'ConnectionsExceeded',
    message:
      `spec.database.poolSize ${poolSize} × (${field} ${replicas} + ${MAX_SURGE} during a rollout) + ` +
      `${SPARE_CONNECTIONS} are ${wanted} connections to Postgres; this operator allows a tenant ${most} ` +
      '(CARREL_MAX_CONNECTIONS_PER_TENANT)',
  };
}
