import type { Namespace } from '../../kube/kinds.ts';
import type { Store } from '../../kube/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  AdoptionRefused,
  ConnectionsExceeded,
  HostsExceeded,
  HostTaken,
  NoShard,
  ShardConflict,
  type ShardConnections,
  SlugTaken,
  type Claim as Registered,
  type Owner,
  type RegisteredTenant,
} from '../../store/postgres/registry.ts';
import { findCondition } from '../../kube/status.ts';
import type { ObservedTenant } from '../kinds.ts';
import { ADOPT_ANNOTATION, slugOf } from '../names.ts';
import type { OperatorSettings } from '../settings.ts';
import type { Shards } from '../shards.ts';
import { NotYet, type Outcome } from '../steps.ts';
import { addressesOf, type Addresses, type Hosts } from './addresses.ts';
import { connectionsOf } from './connections.ts';
import { slugOfDefaultHost } from './hosts.policy.ts';
import { acceptedHosts, refusalOf } from './validate.ts';

/** What a Tenant has once it is accepted. */
export interface Claim {
  readonly tenantId: string;
  readonly slug: string;
  readonly shard: string;
  readonly hosts: Hosts;
  readonly addresses: Addresses;
  /** It goes on with data that were kept and are not clean yet of what belonged to their former time. */
  readonly isAdopting: boolean;
  /** How many connections the registry counts for it. */
  readonly connections: number;
}

/** Nobody tells us when another tenant frees a slug or a host. */
const TAKEN_RETRY_MS = 30_000;
/** The clocks of operator and registry may differ. */
const MIN_RETRY_MS = 1_000;

/** The step `Accepted`: the operator's own rules, then the registry, where the first one to claim a slug or a host has it. */
export class Claims {
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

  async accept(tenant: ObservedTenant): Promise<Outcome<Claim>> {
    const refusal = refusalOf(tenant, this.#settings, this.#shards.names);
    if (refusal) {
      const isBounded = await this.#bound(tenant).then(
        () => true,
        () => false,
      );
      throw new NotYet(refusal.reason, refusal.message, { isStuck: true, ...(isBounded ? {} : { retryAfterMs: TAKEN_RETRY_MS }) });
    }
    const hosts = acceptedHosts(tenant, this.#settings);
    const adopt = tenant.metadata.annotations?.[ADOPT_ANNOTATION];
    const { shard } = tenant.spec.database;
    const registry = await this.#shards.registry();
    const wanted = connectionsOf(tenant);
    const registered = await registry
      .claim({
        slug: slugOf(tenant),
        owner: this.#ownerOf(tenant),
        hosts: [hosts.app, hosts.lti],
        own: {
          hosts: [hosts.app, hosts.lti].filter((host) => slugOfDefaultHost(host, this.#settings.baseDomain) !== undefined),
          endSessions: async (holder) => (await this.#shards.open(holder.shard)).shard.endSessions(holder.slug),
        },
        shards: this.#shards.names,
        maxPerShard: this.#settings.maxTenantsPerShard,
        connections: { wanted, ...this.#connections() },
        ...(shard === undefined ? {} : { shard }),
        ...(adopt === undefined ? {} : { adopt }),
      })
      .catch((error: unknown) => {
        throw refusalFor(error, this.#clock.now());
      });
    const { tenantId, slug, isAdopting, connections } = registered;
    const addresses = addressesOf(tenant, hosts, this.#settings);
    const claim = { tenantId, slug, shard: registered.shard, hosts, addresses, isAdopting, connections: connections ?? wanted };
    return { value: claim, ...told(tenant, registered) };
  }

  /** All that this resource has claimed and not let go. */
  async claimed(tenant: ObservedTenant): Promise<RegisteredTenant[]> {
    const registry = await this.#shards.registry();
    const tenants = await registry.findByOwner(this.#ownerOf(tenant));
    return tenants.filter(({ state }) => state !== 'retained');
  }

  /** What a Tenant that is refused has from before. */
  async #bound(tenant: ObservedTenant): Promise<void> {
    const registry = await this.#shards.registry();
    await registry.boundConnections(slugOf(tenant), this.#ownerOf(tenant), this.#connections());
  }

  #connections(): ShardConnections {
    const most = this.#settings.maxConnectionsPerTenant;
    return {
      most,
      budgetOf: (name) => this.#shards.connectionBudget(name),
      limitsOf: async (name) => (await this.#shards.open(name)).shard.boundConnections(most),
    };
  }

  isTerminating(namespace: string): boolean {
    return this.#namespaces.get({ namespace: '', name: namespace })?.metadata.deletionTimestamp !== undefined;
  }

  #ownerOf(tenant: ObservedTenant): Owner {
    const { namespace, name } = tenant.metadata;
    const uid = this.#namespaces.get({ namespace: '', name: namespace })?.metadata.uid;
    if (uid === undefined)
      throw new NotYet('NamespaceUnknown', `namespace ${namespace} is not seen yet`, { status: 'Unknown', retryAfterMs: 200 });
    return { namespace, namespaceUid: uid, name };
  }
}

/** The condition says what became of data that were kept, also on later passes. */
function told(tenant: ObservedTenant, { isAdopting, tenantId }: Registered): { reason: string; message: string } {
  const before = findCondition(tenant.status?.conditions ?? [], 'Accepted');
  if (isAdopting || before?.reason === 'Adopted')
    return { reason: 'Adopted', message: `goes on with the data that were kept for tenant ${tenantId}` };
  return { reason: 'Accepted', message: `is tenant ${tenantId}` };
}

/** In words for a person; what is no refusal stays as it is. */
function refusalFor(error: unknown, now: Date): unknown {
  const refused = (reason: string, message: string, retryAfterMs = TAKEN_RETRY_MS): NotYet =>
    new NotYet(reason, message, { isStuck: true, retryAfterMs, cause: error });
  if (error instanceof SlugTaken) {
    const advice = error.retained
      ? `; to go on with them, annotate this Tenant with ${ADOPT_ANNOTATION} and a token that whoever runs the operator makes (carrel tenants adoption-token ${error.slug}), or take another slug`
      : '';
    return refused('SlugTaken', `${error.message}${advice}`);
  }
  if (error instanceof AdoptionRefused) {
    const message = `annotation ${ADOPT_ANNOTATION}: the token is wrong, used or expired (wrong tokens so far: ${error.failures}); a token is looked at again from ${error.retryAt.toISOString()}`;
    if (error.wasCompared) return refused('AdoptionRefused', message);
    return refused('AdoptionRefused', message, Math.min(Math.max(error.retryAt.getTime() - now.getTime(), MIN_RETRY_MS), TAKEN_RETRY_MS));
  }
  if (error instanceof HostsExceeded) return refused('HostsExceeded', error.message);
  if (error instanceof HostTaken) return refused('HostTaken', error.message);
  if (error instanceof ConnectionsExceeded) return refused('ConnectionsExceeded', error.message);
  if (error instanceof NoShard) return refused('NoShard', error.message);
  if (error instanceof ShardConflict) return refused('ShardConflict', error.message);
  return error;
}
