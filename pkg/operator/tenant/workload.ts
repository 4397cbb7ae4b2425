import type { Applier } from '../../kube/apply.ts';
import { isInvalid } from '../../kube/errors.ts';
import { DEPLOYMENT, HORIZONTAL_POD_AUTOSCALER, INGRESS, SECRET, type Deployment, type Secret } from '../../kube/kinds.ts';
import { keyOf, type Kind, type KubeObject, type Observed, type OwnerReference } from '../../kube/object.ts';
import { isControlledBy, ownerReference } from '../../kube/owner.ts';
import { isConditionTrue } from '../../kube/status.ts';
import type { OwnedInformers } from '../informers.ts';
import { TENANT, type ObservedTenant } from '../kinds.ts';
import { FIELD_MANAGER, secretNames, slugOf } from '../names.ts';
import type { OperatorSettings } from '../settings.ts';
import { ConditionError, type StepResult } from '../conditions/runner.ts';
import { availabilityOf } from './availability.ts';
import type { Child } from './children/child.ts';
import { imageOf } from './children/deployment.ts';
import { scalingFault } from './children/horizontalpodautoscaler.ts';
import { CHILDREN } from './children/index.ts';
import type { AcceptedTenant } from './acceptance.ts';
import { slugOfDefaultHost } from './hosts.policy.ts';
import { appliedReplicas } from './replicas.ts';

export interface Workload {
  readonly deployment: Observed<Deployment>;
  readonly image: string;
}

/** The objects that were applied, by kind. */
interface AppliedChildren {
  of<T extends KubeObject>(kind: Kind<T>): Observed<T> | undefined;
}

const SUSPENDED = { status: 'False', reason: 'Suspended', message: 'no pods are wanted' } as const;

/** The objects that run and expose a tenant's server. Writes only what differs. */
export class Workloads {
  readonly #settings: OperatorSettings;
  readonly #applier: Applier;
  readonly #owned: OwnedInformers;

  constructor(deps: { settings: OperatorSettings; applier: Applier; owned: OwnedInformers }) {
    this.#settings = deps.settings;
    this.#applier = deps.applier;
    this.#owned = deps.owned;
  }

  /** The step `WorkloadAvailable`. `checksums` are those of the Secrets that pods read at their start. */
  async run(tenant: ObservedTenant, accepted: AcceptedTenant, checksums: readonly string[]): Promise<StepResult<Workload>> {
    const settings = this.#settings;
    const replicas = appliedReplicas(tenant, this.#owned.of(DEPLOYMENT).store.get(keyOf(tenant))?.spec?.replicas);
    const applied = await this.#apply(CHILDREN.WorkloadAvailable, tenant, { accepted, settings, checksums, replicas });
    await this.#pruneSecrets(tenant);
    const object = applied.of(DEPLOYMENT);
    if (!object) throw new Error('CHILDREN has no Deployment');
    return {
      value: { deployment: object, image: imageOf(tenant, settings) },
      ...this.#availability(tenant, object, scalingFault(applied.of(HORIZONTAL_POD_AUTOSCALER))),
    };
  }

  /** The step `WorkloadAvailable` of a suspended tenant whose other steps failed: it has no pods all the same. */
  async stop(tenant: ObservedTenant): Promise<StepResult<Workload>> {
    const live = this.#owned.of(DEPLOYMENT).store.get(keyOf(tenant));
    if (!live || !isControlledBy(live, ownerReference(tenant, TENANT))) throw new ConditionError(SUSPENDED.reason, SUSPENDED.message);
    return { value: { deployment: await this.#withoutPods(live), image: imageIn(live) }, ...SUSPENDED };
  }

  async #withoutPods(live: Observed<Deployment>): Promise<Observed<Deployment>> {
    if (live.spec?.replicas === 0) return live;
    const { api, store } = this.#owned.of(DEPLOYMENT);
    const stopped = await api.patch(keyOf(live), { spec: { replicas: 0 } }, { fieldManager: FIELD_MANAGER });
    store.record(stopped);
    return stopped;
  }

  /** The step `Exposed`. */
  async expose(tenant: ObservedTenant, accepted: AcceptedTenant): Promise<StepResult<object>> {
    const applied = await this.#apply(CHILDREN.Exposed, tenant, { accepted, settings: this.#settings });
    if (!applied.of(INGRESS)) return { value: {}, reason: 'NotExposed', message: 'reached by its Service only, as spec.exposure says' };
    const { app, lti } = accepted.hosts;
    return { value: {}, reason: 'Exposed', message: `Ingress for ${[...new Set([app, lti])].join(', ')}` };
  }

  /** Removes hosts of other slugs from the Ingress, accepted or not. Nothing else of the Ingress changes. */
  async withdrawForeignHosts(tenant: ObservedTenant): Promise<void> {
    const owner = ownerReference(tenant, TENANT);
    const { api, store } = this.#owned.of(INGRESS);
    const live = store.get(keyOf(tenant));
    if (!live || !isControlledBy(live, owner)) return;
    const all = live.spec?.rules ?? [];
    const rules = all.filter(({ host = '' }) => [undefined, slugOf(tenant)].includes(slugOfDefaultHost(host, this.#settings.baseDomain)));
    if (rules.length === all.length) return;
    if (rules.length === 0) await this.#applier.prune(INGRESS, { owner, namespace: tenant.metadata.namespace, store, keep: [] });
    else store.record(await api.patch(keyOf(live), { spec: { rules } }, { fieldManager: FIELD_MANAGER }));
  }

  /** Applies the children that are wanted and deletes the others. */
  async #apply<Input>(children: readonly Child<Input>[], tenant: ObservedTenant, input: Input): Promise<AppliedChildren> {
    const owner = ownerReference(tenant, TENANT);
    const { namespace } = tenant.metadata;
    const all = children.map((child) => ({ child, desired: child.desired(tenant, input) }));
    const applied = new Map<Kind, Observed>();
    for (const { child, desired } of all) {
      const { kind } = child;
      if (desired) applied.set(kind, await this.#applyOne(child, desired, owner));
      else {
        const keep = all.flatMap((other) => (other.child.kind === kind ? (other.desired?.metadata?.name ?? []) : []));
        await this.#applier.prune(kind, { owner, namespace, store: this.#owned.of(kind).store, keep });
      }
    }
    return { of: <T extends KubeObject>(kind: Kind<T>) => applied.get(kind) as Observed<T> | undefined };
  }

  /** A renamed or renumbered list entry may conflict with the applied one, and apply can only add to the list: then the list is replaced. */
  async #applyOne<Input>(child: Child<Input>, desired: KubeObject, owner: OwnerReference): Promise<Observed> {
    const { api, store } = this.#owned.of(child.kind);
    try {
      return (await this.#applier.apply(child.kind, desired, { owner, store, leave: child.leave })).object;
    } catch (error) {
      if (!child.replacement || !isInvalid(error) || !store.get(keyOf(desired))) throw error;
      await api.patch(keyOf(desired), child.replacement(desired), { fieldManager: FIELD_MANAGER });
      return (await this.#applier.apply(child.kind, desired, { owner, store })).object;
    }
  }

  #availability(tenant: ObservedTenant, object: Observed<Deployment>, fault: string | undefined): Omit<StepResult<unknown>, 'value'> {
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

const imageIn = ({ spec }: Deployment): string => spec?.template.spec?.containers[0]?.image ?? '';
