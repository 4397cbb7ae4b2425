import { createHash } from 'node:crypto';
import type { Applier } from '../../kube/apply.ts';
import {
  CONFIG_MAP,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  INGRESS,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  type Deployment,
  type Ingress,
  type Secret,
  type Service,
} from '../../kube/kinds.ts';
import { isInvalid } from '../../kube/errors.ts';
import { keyOf, type Observed } from '../../kube/object.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import { isControlledBy, ownerReference } from '../../kube/owner.ts';
import { isConditionTrue } from '../../kube/status.ts';
import { TENANT, type ObservedTenant } from '../kinds.ts';
import { FIELD_MANAGER, secretNames, slugOf } from '../names.ts';
import type { OperatorSettings } from '../settings.ts';
import type { OwnedStores } from '../informers.ts';
import { NotYet, type Outcome } from '../steps.ts';
import { availabilityOf } from './availability.ts';
import { configMap } from './children/configmap.ts';
import { deployment } from './children/deployment.ts';
import { suspendedEndpoints } from './children/endpointslice.ts';
import { ingress } from './children/ingress.ts';
import { service } from './children/service.ts';
import { serviceAccount } from './children/serviceaccount.ts';
import type { Claim } from './claims.ts';
import { slugOfDefaultHost } from './hosts.policy.ts';

export interface Workload {
  readonly deployment: Observed<Deployment>;
  readonly image: string;
}

const SUSPENDED = { status: 'False', reason: 'Suspended', message: 'no pods are wanted' } as const;

/** The objects that run and expose a tenant's server. Nothing is written when nothing differs. */
export class Workloads {
  readonly #settings: OperatorSettings;
  readonly #applier: Applier;
  readonly #stores: OwnedStores;
  readonly #services: ResourceApi<Service>;
  readonly #deployments: ResourceApi<Deployment>;
  readonly #ingresses: ResourceApi<Ingress>;

  constructor(deps: {
    settings: OperatorSettings;
    applier: Applier;
    stores: OwnedStores;
    services: ResourceApi<Service>;
    deployments: ResourceApi<Deployment>;
    ingresses: ResourceApi<Ingress>;
  }) {
    this.#settings = deps.settings;
    this.#applier = deps.applier;
    this.#stores = deps.stores;
    this.#services = deps.services;
    this.#deployments = deps.deployments;
    this.#ingresses = deps.ingresses;
  }

  /** The step `WorkloadAvailable`. `checksums` are those of the Secrets that pods read at their start. */
  async run(tenant: ObservedTenant, claim: Claim, checksums: readonly string[]): Promise<Outcome<Workload>> {
    const owner = ownerReference(tenant, TENANT);
    const settings = configMap(tenant, claim, this.#settings);
    const image = tenant.spec.image ?? this.#settings.image;
    const wanted = deployment(tenant, { image, config: configHash(settings.data, checksums) });
    await this.#applier.apply(SERVICE_ACCOUNT, serviceAccount(tenant), { owner, store: this.#stores.serviceAccounts });
    await this.#applier.apply(CONFIG_MAP, settings, { owner, store: this.#stores.configMaps });
    const { object } = await this.#applier.apply(DEPLOYMENT, wanted, { owner, store: this.#stores.deployments });
    await this.#pruneSecrets(tenant);
    return { value: { deployment: object, image }, ...this.#availability(tenant, object) };
  }

  /** The step `WorkloadAvailable` of a suspended tenant whose other steps have not got there: its pods go all the same. */
  async stop(tenant: ObservedTenant): Promise<Outcome<Workload>> {
    const live = this.#stores.deployments.get(keyOf(tenant));
    if (!live || !isControlledBy(live, ownerReference(tenant, TENANT))) throw new NotYet(SUSPENDED.reason, SUSPENDED.message);
    return { value: { deployment: await this.#withoutPods(live), image: imageOf(live) }, ...SUSPENDED };
  }

  async #withoutPods(live: Observed<Deployment>): Promise<Observed<Deployment>> {
    if (live.spec?.replicas === 0) return live;
    const stopped = await this.#deployments.patch(keyOf(live), { spec: { replicas: 0 } }, { fieldManager: FIELD_MANAGER });
    this.#stores.deployments.record(stopped);
    return stopped;
  }

  /** The step `Exposed`. */
  async expose(tenant: ObservedTenant, { hosts }: Claim): Promise<Outcome<object>> {
    const owner = ownerReference(tenant, TENANT);
    const { namespace } = tenant.metadata;
    const wanted = ingress(tenant, hosts);
    await this.#applyService(tenant);
    await this.#applySuspendedEndpoints(tenant);
    if (!wanted) {
      await this.#applier.prune(INGRESS, { owner, namespace, store: this.#stores.ingresses, keep: [] });
      return { value: {}, reason: 'NotExposed', message: 'reached by its Service only, as spec.exposure says' };
    }
    await this.#applier.apply(INGRESS, wanted, { owner, store: this.#stores.ingresses });
    return { value: {}, reason: 'Exposed', message: `Ingress for ${[...new Set([hosts.app, hosts.lti])].join(', ')}` };
  }

  /** Takes other slugs' hosts out of the Ingress of a Tenant that came to have some: it keeps what else it has, accepted or not. */
  async withdrawForeignHosts(tenant: ObservedTenant): Promise<void> {
    const owner = ownerReference(tenant, TENANT);
    const live = this.#stores.ingresses.get(keyOf(tenant));
    if (!live || !isControlledBy(live, owner)) return;
    const all = live.spec?.rules ?? [];
    const rules = all.filter(({ host = '' }) => [undefined, slugOf(tenant)].includes(slugOfDefaultHost(host, this.#settings.baseDomain)));
    if (rules.length === all.length) return;
    if (rules.length === 0)
      await this.#applier.prune(INGRESS, { owner, namespace: tenant.metadata.namespace, store: this.#stores.ingresses, keep: [] });
    else this.#stores.ingresses.record(await this.#ingresses.patch(keyOf(live), { spec: { rules } }, { fieldManager: FIELD_MANAGER }));
  }

  #availability(tenant: ObservedTenant, object: Observed<Deployment>): Omit<Outcome<unknown>, 'value'> {
    if (tenant.spec.suspended) return SUSPENDED;
    return availabilityOf(object, isConditionTrue(tenant as Parameters<typeof isConditionTrue>[0], 'WorkloadAvailable'));
  }

  /** A port that somebody renumbered still bears our port's name, and applying can only add to the list: then it is replaced as a whole. */
  async #applyService(tenant: ObservedTenant): Promise<void> {
    const wanted = service(tenant);
    const options = { owner: ownerReference(tenant, TENANT), store: this.#stores.services };
    try {
      await this.#applier.apply(SERVICE, wanted, options);
    } catch (error) {
      if (!isInvalid(error) || !this.#stores.services.get(keyOf(wanted))) throw error;
      await this.#services.patch(keyOf(wanted), { spec: { ports: wanted.spec?.ports } }, { fieldManager: FIELD_MANAGER });
      await this.#applier.apply(SERVICE, wanted, options);
    }
  }

  async #applySuspendedEndpoints(tenant: ObservedTenant): Promise<void> {
    const options = { owner: ownerReference(tenant, TENANT), store: this.#stores.endpointSlices };
    const wanted = suspendedEndpoints(tenant, this.#settings.suspendedAnswer);
    if (wanted) await this.#applier.apply(ENDPOINT_SLICE, wanted, options);
    else await this.#applier.prune(ENDPOINT_SLICE, { ...options, namespace: tenant.metadata.namespace, keep: [] });
  }

  /** A Secret of ours goes when a person's takes its place; one that a person named stays, whosever it is. */
  async #pruneSecrets(tenant: ObservedTenant): Promise<void> {
    const named = tenant.spec.admin?.passwordSecretRef?.name;
    if (named === undefined) return;
    const { admin, ...others } = secretNames(tenant);
    const { namespace } = tenant.metadata;
    const matches = ({ metadata }: Observed<Secret>): boolean => metadata.name === admin;
    await this.#applier.prune(SECRET, {
      owner: ownerReference(tenant, TENANT),
      namespace,
      store: this.#stores.secrets,
      keep: [...Object.values(others), named],
      matches,
    });
  }
}

const imageOf = ({ spec }: Deployment): string => spec?.template.spec?.containers[0]?.image ?? '';

/** Another hash restarts the pods. */
const configHash = (data: Record<string, string> | undefined, checksums: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([Object.entries(data ?? {}), checksums]))
    .digest('hex')
    .slice(0, 32);
