import type { Applier } from '../../../kube/apply.ts';
import { isInvalid, isKindMissing } from '../../../kube/errors.ts';
import { HTTP_ROUTE, type Gateway, type HttpRoute } from '../../../kube/gateway-api.ts';
import {
  CONFIG_MAP,
  DEPLOYMENT,
  HORIZONTAL_POD_AUTOSCALER,
  INGRESS,
  SECRET,
  type Deployment,
  type Secret,
} from '../../../kube/kinds.ts';
import { apiVersionOf, keyOf, type Kind, type KubeObject, type Observed, type OwnerReference } from '../../../kube/object.ts';
import { isControlledBy, ownerReference } from '../../../kube/owner.ts';
import type { Store } from '../../../kube/store.ts';
import { isConditionTrue } from '../../../kube/status.ts';
import type { OwnedInformers } from '../../informers.ts';
import { TENANT, type ObservedTenant } from '../../kinds.ts';
import { FIELD_MANAGER, secretNames, slugOf } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import { ConditionError, type StepResult } from '../../conditions/runner.ts';
import { availabilityOf } from './availability.ts';
import type { Child } from '../children/child.ts';
import { imageOf } from '../children/deployment.ts';
import { scalingFault } from '../children/horizontalpodautoscaler.ts';
import { gatewayOf, sharedApiRouteName } from '../children/httproute.ts';
import { CHILDREN } from '../children/index.ts';
import type { AcceptedTenant } from '../acceptance/acceptance-step.ts';
import { exposureBy, type Exposure, type SeenGateway } from './exposure.policy.ts';
import { slugOfDefaultHost } from '../acceptance/hosts.policy.ts';
import { appliedReplicas } from './replicas.ts';
import { imageIn, type Rollouts } from './rollouts.ts';

export interface Workload {
  readonly deployment: Observed<Deployment>;
  readonly image: string;
  /** The Deployment was not applied: its rollout waits (rollouts.ts), or a store's step failed. */
  readonly isHeld: boolean;
}

/** The applied objects, by kind and name; the default name is the Tenant's. */
interface AppliedChildren {
  of<T extends KubeObject>(kind: Kind<T>, name?: string): Observed<T> | undefined;
}

/** A kind may be installed at any time, and the operator is not notified. */
const KIND_MISSING_RETRY_MS = 10_000;

const SUSPENDED = { status: 'False', reason: 'Suspended', message: 'a suspended tenant has no pods' } as const;

/**
 * The objects that are corrected even while pods of a former release stay. The ConfigMap is not among them: pods read it whenever
 * they start.
 */
const BESIDE_PODS = CHILDREN.WorkloadAvailable.filter(({ kind }) => kind !== DEPLOYMENT && kind !== CONFIG_MAP);

/** The objects that run and expose a tenant's server. Writes only what differs. */
export class WorkloadStep {
  readonly #settings: OperatorSettings;
  readonly #applier: Applier;
  readonly #owned: OwnedInformers;
  readonly #gateways: Pick<Store<Gateway>, 'get'>;
  readonly #rollouts: Rollouts;

  constructor(deps: {
    settings: OperatorSettings;
    applier: Applier;
    owned: OwnedInformers;
    gateways: Pick<Store<Gateway>, 'get'>;
    rollouts: Rollouts;
  }) {
    this.#settings = deps.settings;
    this.#applier = deps.applier;
    this.#owned = deps.owned;
    this.#gateways = deps.gateways;
    this.#rollouts = deps.rollouts;
  }

  /** The step `WorkloadAvailable`. `checksums` are those of the Secrets that pods read at their start. */
  async run(tenant: ObservedTenant, accepted: AcceptedTenant, checksums: readonly string[]): Promise<StepResult<Workload>> {
    const settings = this.#settings;
    const live = this.#owned.of(DEPLOYMENT).store.get(keyOf(tenant));
    const image = imageOf(tenant, settings);
    const replicas = appliedReplicas(tenant, live?.spec?.replicas);
    const input = { accepted, settings, checksums, replicas };
    const waits = this.#rollouts.waitsFor(tenant, live, accepted.areRolloutsPaused);
    if (live && waits) {
      await this.#apply(BESIDE_PODS, tenant, input);
      const deployment = replicas === undefined ? live : await this.#scaled(live, replicas);
      return { value: { deployment, image: imageIn(live), isHeld: true }, ...waits };
    }
    const applied = await this.#apply(CHILDREN.WorkloadAvailable, tenant, input);
    await this.#pruneSecrets(tenant);
    const object = applied.of(DEPLOYMENT);
    if (!object) throw new Error('CHILDREN has no Deployment');
    const availability = this.#availability(tenant, object, scalingFault(applied.of(HORIZONTAL_POD_AUTOSCALER)));
    this.#rollouts.settle();
    return { value: { deployment: object, image, isHeld: false }, ...availability };
  }

  /** Runs the step `WorkloadAvailable` of a suspended tenant whose other steps failed: it must have no pods even then. */
  async stop(tenant: ObservedTenant): Promise<StepResult<Workload>> {
    const live = this.#owned.of(DEPLOYMENT).store.get(keyOf(tenant));
    if (!live || !isControlledBy(live, ownerReference(tenant, TENANT)))
      throw new ConditionError(SUSPENDED.reason, SUSPENDED.message);
    return { value: { deployment: await this.#scaled(live, 0), image: imageIn(live), isHeld: true }, ...SUSPENDED };
  }

  async #scaled(live: Observed<Deployment>, replicas: number): Promise<Observed<Deployment>> {
    if (live.spec?.replicas === replicas) return live;
    const { api, store } = this.#owned.of(DEPLOYMENT);
    const scaled = await api.patch(keyOf(live), { spec: { replicas } }, { fieldManager: FIELD_MANAGER });
    store.record(scaled);
    return scaled;
  }

  /** Runs the step `Exposed`. */
  async expose(tenant: ObservedTenant, accepted: AcceptedTenant): Promise<StepResult<object>> {
    const applied = await this.#apply(CHILDREN.Exposed, tenant, { accepted, settings: this.#settings });
    const route = applied.of(HTTP_ROUTE);
    if (route)
      return { value: {}, ...this.#exposureByGateway(tenant, route, applied.of(HTTP_ROUTE, sharedApiRouteName(tenant))) };
    if (!applied.of(INGRESS))
      return { value: {}, reason: 'NotExposed', message: 'reached by its Service only, as spec.exposure says' };
    const { app, lti } = accepted.hosts;
    return { value: {}, reason: 'Exposed', message: `Ingress for ${[...new Set([app, lti])].join(', ')}` };
  }

  /** Returns the exposure of the tenant's own hosts; its message says if the shared API host does not lead to the tenant. */
  #exposureByGateway(tenant: ObservedTenant, route: Observed<HttpRoute>, shared: Observed<HttpRoute> | undefined): Exposure {
    const parent = gatewayOf(tenant);
    if (!parent) throw new Error('a route without a Gateway');
    const { tenantNamespaces } = this.#settings;
    const isWatched = tenantNamespaces.length === 0 || tenantNamespaces.includes(parent.namespace);
    const gateway: SeenGateway = isWatched ? (this.#gateways.get(parent) ?? 'missing') : 'unseen';
    const own = exposureBy(route, parent, gateway);
    if (!shared || own.status !== 'True') return own;
    const { sectionName: _ofOwnHosts, ...atAny } = parent;
    const { status, message } = exposureBy(shared, atAny, gateway);
    return status === 'True'
      ? own
      : { ...own, message: `${own.message}; not at the shared API host ${this.#settings.apiHost}: ${message}` };
  }

  /** Removes hosts of other slugs from the Ingress and the HTTPRoute, accepted or not. Nothing else of them changes. */
  async withdrawForeignHosts(tenant: ObservedTenant): Promise<void> {
    const isForeign = (host = ''): boolean =>
      ![undefined, slugOf(tenant)].includes(slugOfDefaultHost(host, this.#settings.baseDomain));
    await this.#withdraw(INGRESS, tenant, ({ spec }) => {
      const all = spec?.rules ?? [];
      const rules = all.filter(({ host }) => !isForeign(host));
      return rules.length === all.length ? undefined : { isEmpty: rules.length === 0, spec: { rules } };
    });
    await this.#withdraw(HTTP_ROUTE, tenant, ({ spec }) => {
      const all = spec?.hostnames ?? [];
      const hostnames = all.filter((host) => !isForeign(host));
      return hostnames.length === all.length ? undefined : { isEmpty: hostnames.length === 0, spec: { hostnames } };
    });
  }

  /**
   * `rest` returns what stays of the Tenant's object, or undefined for all of it. An object without hosts would serve every host,
   * so it is deleted.
   */
  async #withdraw<T extends KubeObject>(
    kind: Kind<T>,
    tenant: ObservedTenant,
    rest: (live: Observed<T>) => { isEmpty: boolean; spec: object } | undefined,
  ): Promise<void> {
    const owner = ownerReference(tenant, TENANT);
    const { api, store } = this.#owned.of(kind);
    const live = store.get(keyOf(tenant));
    const left = live && isControlledBy(live, owner) ? rest(live) : undefined;
    if (!live || !left) return;
    if (left.isEmpty) await api.delete(keyOf(live), { uid: live.metadata.uid });
    else store.record(await api.patch(keyOf(live), { spec: left.spec }, { fieldManager: FIELD_MANAGER }));
  }

  /** Applies the desired children and deletes the others. */
  async #apply<Input>(children: readonly Child<Input>[], tenant: ObservedTenant, input: Input): Promise<AppliedChildren> {
    const owner = ownerReference(tenant, TENANT);
    const { namespace } = tenant.metadata;
    const all = children.map((child) => ({ child, desired: child.desired(tenant, input) }));
    const applied: { kind: Kind; object: Observed }[] = [];
    for (const { child, desired } of all) {
      const { kind } = child;
      if (desired) applied.push({ kind, object: await this.#applyOne(child, desired, owner) });
      else {
        const keep = all.flatMap((other) => (other.child.kind === kind ? (other.desired?.metadata?.name ?? []) : []));
        await this.#applier.prune(kind, { owner, namespace, store: this.#owned.of(kind).store, keep });
      }
    }
    return {
      of: <T extends KubeObject>(kind: Kind<T>, name = tenant.metadata.name) =>
        applied.find((each) => each.kind === kind && each.object.metadata.name === name)?.object as Observed<T> | undefined,
    };
  }

  /**
   * A renamed or renumbered list entry may conflict with the applied one, and apply can only add to the list: then the list is
   * replaced.
   */
  async #applyOne<Input>(child: Child<Input>, desired: KubeObject, owner: OwnerReference): Promise<Observed> {
    const { api, store } = this.#owned.of(child.kind);
    try {
      return (await this.#applier.apply(child.kind, desired, { owner, store, leave: child.leave })).object;
    } catch (error) {
      if (isKindMissing(error)) throw kindMissing(child.kind);
      if (!child.replacement || !isInvalid(error) || !store.get(keyOf(desired))) throw error;
      await api.patch(keyOf(desired), child.replacement(desired), { fieldManager: FIELD_MANAGER });
      return (await this.#applier.apply(child.kind, desired, { owner, store })).object;
    }
  }

  #availability(
    tenant: ObservedTenant,
    object: Observed<Deployment>,
    fault: string | undefined,
  ): Omit<StepResult<unknown>, 'value'> {
    if (tenant.spec.suspended) return SUSPENDED;
    const found = availabilityOf(object, isConditionTrue(tenant as Parameters<typeof isConditionTrue>[0], 'WorkloadAvailable'));
    return fault === undefined
      ? found
      : { ...found, message: `${found.message}; the HorizontalPodAutoscaler does not scale them: ${fault}` };
  }

  /** Deletes the generated Secret once the spec names another; never deletes a Secret that the spec names. */
  async #pruneSecrets(tenant: ObservedTenant): Promise<void> {
    const named = tenant.spec.admin?.passwordSecretRef?.name;
    if (named === undefined) return;
    const { admin, ...others } = secretNames(tenant);
    const { namespace } = tenant.metadata;
    const matches = ({ metadata }: Observed<Secret>): boolean => metadata.name === admin;
    await this.#applier.prune(SECRET, {
      owner: ownerReference(tenant, TENANT),
      namespace,
      store: this.#owned.of(SECRET).store,
      keep: [...Object.values(others), named],
      matches,
    });
  }
}

/** Returns the error of a missing kind: Kubernetes itself has all kinds except the Gateway API's. */
const kindMissing = (kind: Kind): ConditionError =>
  new ConditionError(
    'GatewayApiMissing',
    `the cluster has no ${kind.kind} of ${apiVersionOf(kind)}: install the Gateway API's CustomResourceDefinitions, ` +
      'standard channel, 1.2 or newer (https://gateway-api.sigs.k8s.io), and a controller of Gateways',
    { retryAfterMs: KIND_MISSING_RETRY_MS },
  );
