import type { Namespace } from '../../../kube/kinds.ts';
import { findCondition } from '../../../kube/status.ts';
import type { Store } from '../../../kube/store.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { boundConnections, endSessions, makeWritable } from '../../../store/postgres/provisioning.ts';
import {
  AdoptionRefused,
  ConnectionsExceeded,
  HostsExceeded,
  HostTaken,
  NoShard,
  ShardConflict,
  type ShardConnections,
  SlugTaken,
  type RegisteredTenant,
} from '../../../store/postgres/registry.ts';
import { ConditionError, type StepResult } from '../../conditions/runner.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { ADOPT_ANNOTATION, slugOf } from '../../names.ts';
import { ownerOf } from '../../namespaces.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { Shards } from '../../shards.ts';
import { accept, type Acceptable } from './acceptance.policy.ts';
import { slugOfDefaultHost } from './hosts.policy.ts';

/** An accepted Tenant. `connections` is the number that the registry counts for it. */
export interface AcceptedTenant extends Acceptable {
  readonly tenantId: string;
  readonly shard: string;
  /** The Tenant adopted retained data whose clean-up has not finished. */
  readonly isAdopting: boolean;
  /** The time of its first credentials (RFC 3339). */
  readonly since: string;
  readonly credentials: RegisteredTenant['credentials'];
  readonly areRolloutsPaused: boolean;
  readonly move: RegisteredTenant['move'];
  readonly formerShard: RegisteredTenant['formerShard'];
}

/** The operator is not notified when another tenant releases a slug or host. */
const TAKEN_RETRY_MS = 30_000;
/** The clocks of operator and registry may differ. */
const MIN_RETRY_MS = 1_000;

/** The step `Accepted`: the operator's rules, then the registry, where a slug or host belongs to the first that claims it. */
export class AcceptanceStep {
  readonly #settings: OperatorSettings;
  readonly #shards: Shards;
  readonly #namespaces: Store<Namespace>;
  readonly #clock: Clock;

  constructor(deps: { settings: OperatorSettings; shards: Shards; namespaces: Store<Namespace>; clock: Clock }) {
    this.#settings = deps.settings;
    this.#shards = deps.shards;
    this.#namespaces = deps.namespaces;
    this.#clock = deps.clock;
  }

  async run(tenant: ObservedTenant): Promise<StepResult<AcceptedTenant>> {
    const found = accept(tenant, this.#settings, this.#shards.names);
    if ('reason' in found) {
      const isBounded = await this.#bound(tenant).then(
        () => true,
        () => false,
      );
      throw new ConditionError(found.reason, found.message, {
        isTerminal: true,
        ...(isBounded ? {} : { retryAfterMs: TAKEN_RETRY_MS }),
      });
    }
    const claim = await this.#claim(tenant, found).catch(async (error: unknown) => {
      if (error instanceof ShardConflict) await this.#letWrite(found.slug);
      throw refusalFor(error, this.#clock.now());
    });
    const { tenantId, shard, isAdopting, since, credentials, areRolloutsPaused, move, formerShard } = claim;
    const value = {
      ...found,
      tenantId,
      shard,
      isAdopting,
      since,
      credentials,
      areRolloutsPaused,
      move,
      formerShard,
      connections: claim.connections ?? found.connections,
    };
    return { value, ...acceptedCondition(tenant, claim) };
  }

  async #claim(tenant: ObservedTenant, { slug, hosts, connections }: Acceptable): Promise<RegisteredTenant> {
    const adopt = tenant.metadata.annotations?.[ADOPT_ANNOTATION];
    const { shard } = tenant.spec.database;
    const all = [hosts.app, hosts.lti];
    const registry = await this.#shards.registry();
    return registry.claim({
      slug,
      owner: ownerOf(this.#namespaces, tenant.metadata),
      hosts: all,
      own: {
        hosts: all.filter((host) => slugOfDefaultHost(host, this.#settings.baseDomain) !== undefined),
        endSessions: async (holder) => endSessions(await this.#shards.open(holder.shard), holder.slug),
      },
      shards: this.#shards.names,
      answering: () => this.#shards.answering(),
      maxPerShard: this.#settings.maxTenantsPerShard,
      connections: { wanted: connections, ...this.#connections() },
      ...(shard === undefined ? {} : { shard }),
      ...(adopt === undefined ? {} : { adopt }),
    });
  }

  /** Returns all tenants that this resource has claimed and not released. */
  async registered(tenant: ObservedTenant): Promise<RegisteredTenant[]> {
    const registry = await this.#shards.registry();
    const tenants = await registry.findByOwner(ownerOf(this.#namespaces, tenant.metadata));
    return tenants.filter(({ state }) => state !== 'retained');
  }

  /** Enforces the limit of connections for a refused Tenant, which keeps its role. */
  async #bound(tenant: ObservedTenant): Promise<void> {
    const registry = await this.#shards.registry();
    await registry.boundConnections(slugOf(tenant), ownerOf(this.#namespaces, tenant.metadata), this.#connections());
  }

  /** Makes a tenant writable again on its present shard if its mover has died. */
  async #letWrite(slug: string): Promise<void> {
    const registered = await (await this.#shards.registry()).find(slug);
    if (!registered || registered.move?.isAlive) return;
    await makeWritable(await this.#shards.open(registered.shard), slug);
  }

  #connections(): ShardConnections {
    const most = this.#settings.maxConnectionsPerTenant;
    return {
      most,
      budgetOf: (name) => this.#shards.connectionBudget(name),
      limitsOf: async (name) => boundConnections(await this.#shards.open(name), most),
    };
  }
}

/** Returns the condition; `Adopted` stays on later passes. */
function acceptedCondition(
  tenant: ObservedTenant,
  { isAdopting, tenantId }: RegisteredTenant,
): { reason: string; message: string } {
  const before = findCondition(tenant.status?.conditions ?? [], 'Accepted');
  if (isAdopting || before?.reason === 'Adopted')
    return { reason: 'Adopted', message: `uses the retained data of tenant ${tenantId}` };
  return { reason: 'Accepted', message: `is tenant ${tenantId}` };
}

/** Returns the condition of a refusal; returns any other error unchanged. */
function refusalFor(error: unknown, now: Date): unknown {
  const refused = (reason: string, message: string, retryAfterMs = TAKEN_RETRY_MS): ConditionError =>
    new ConditionError(reason, message, { isTerminal: true, retryAfterMs, cause: error });
  if (error instanceof SlugTaken) {
    const advice = error.retained
      ? `; to adopt them, annotate this Tenant with ${ADOPT_ANNOTATION} and a token that whoever runs the operator ` +
        `makes (carrel tenants adoption-token ${error.slug}), or take another slug`
      : '';
    return refused('SlugTaken', `${error.message}${advice}`);
  }
  if (error instanceof AdoptionRefused) {
    const message =
      `annotation ${ADOPT_ANNOTATION}: the token is wrong, used or expired (wrong tokens so far: ` +
      `${error.failures}); the next token is checked from ${error.retryAt.toISOString()}`;
    if (error.wasCompared) return refused('AdoptionRefused', message);
    return refused(
      'AdoptionRefused',
      message,
      Math.min(Math.max(error.retryAt.getTime() - now.getTime(), MIN_RETRY_MS), TAKEN_RETRY_MS),
    );
  }
  if (error instanceof HostsExceeded) return refused('HostsExceeded', error.message);
  if (error instanceof HostTaken) return refused('HostTaken', error.message);
  if (error instanceof ConnectionsExceeded) return refused('ConnectionsExceeded', error.message);
  if (error instanceof NoShard) return refused('NoShard', error.message);
  if (error instanceof ShardConflict) return refused('ShardConflict', error.message);
  return error;
}
