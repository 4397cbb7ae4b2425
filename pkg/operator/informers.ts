import { GATEWAY, HTTP_ROUTE, type Gateway } from '../kube/gateway-api.ts';
import { informer, type Informer } from '../kube/informer.ts';
import { HORIZONTAL_POD_AUTOSCALER, NAMESPACE, SECRET, type Namespace, type Secret } from '../kube/kinds.ts';
import { keyText, type Kind, type KubeObject, type Observed } from '../kube/object.ts';
import type { KubeClient } from '../kube/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { programmedOnly } from './tenant/workload/exposure.policy.ts';
import { LTI_REGISTRATION, TENANT, WEBHOOK, type LtiRegistration, type Tenant, type Webhook } from './kinds.ts';
import { MANAGED_BY_SELECTOR, NOT_MANAGED_BY_SELECTOR } from './names.ts';
import { withoutMeasurements } from './tenant/children/horizontalpodautoscaler.ts';
import { gatewayOf } from './tenant/children/httproute.ts';
import { OWNED_KINDS } from './tenant/children/index.ts';

/** Copies of the objects that the operator made, of all namespaces, found by their label. */
export class OwnedInformers {
  readonly all: readonly Informer<KubeObject>[];
  readonly #byKind: ReadonlyMap<Kind, Informer<KubeObject>>;

  constructor(create: <T extends KubeObject>(kind: Kind<T>) => Informer<T>) {
    this.#byKind = new Map(OWNED_KINDS.map((kind) => [kind, create<KubeObject>(kind)]));
    this.all = [...this.#byKind.values()];
  }

  of<T extends KubeObject>(kind: Kind<T>): Informer<T> {
    const found = this.#byKind.get(kind);
    if (!found) throw new Error(`${kind.kind} is missing in CHILDREN (tenant/children/index.ts)`);
    return found as unknown as Informer<T>;
  }
}

export interface Informers {
  readonly tenants: Informer<Tenant>;
  readonly registrations: Informer<LtiRegistration>;
  readonly webhooks: Informer<Webhook>;
  readonly namespaces: Informer<Namespace>;
  /** Secrets that people name, metadata only: the operator reads their data when it needs them. */
  readonly namedSecrets: Informer<Secret>;
  /** The Gateways that routes may name. Empty if the cluster has no Gateway API. */
  readonly gateways: Informer<Gateway>;
  readonly owned: OwnedInformers;
}

/** Indexes of the objects that refer to a Tenant and of those that name a Secret; values are `namespace/name`. */
export const BY_TENANT = 'tenant';
export const BY_NAMED_SECRET = 'named-secret';
/** Index of the Tenants that a Gateway exposes. */
export const BY_GATEWAY = 'gateway';

interface Deps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Returns all watches of the operator, of these namespaces or of all. Standbys run them too, so that a new leader starts with
 * synced copies.
 */
export function createInformers(given: Deps, namespaces: readonly string[]): Informers {
  const { client, clock, random, log, metrics } = given;
  const all = { client, clock, random, log, metrics, ...(namespaces.length > 0 ? { namespaces } : {}) };
  const namespacesInformer = informer({ ...all, kind: NAMESPACE, metadataOnly: true });
  const deps = { ...all, existing: namespacesInformer.store };
  const byTenant = ({ metadata, spec }: Observed<LtiRegistration> | Observed<Webhook>): string[] => [
    `${metadata.namespace}/${spec.tenantRef.name}`,
  ];
  const named = (object: KubeObject, names: (string | undefined)[]): string[] =>
    names.flatMap((name) => (name === undefined ? [] : [`${object.metadata?.namespace}/${name}`]));
  return {
    tenants: informer({
      ...deps,
      kind: TENANT,
      indexes: {
        [BY_NAMED_SECRET]: (tenant) =>
          named(tenant, [
            tenant.spec.admin?.passwordSecretRef?.name,
            tenant.spec.storage.credentialsSecretRef?.name,
            tenant.spec.helpers?.credentialsSecretRef?.name,
          ]),
        [BY_GATEWAY]: (tenant) => {
          const gateway = gatewayOf(tenant);
          return gateway ? [keyText(gateway)] : [];
        },
      },
    }),
    registrations: informer({
      ...deps,
      kind: LTI_REGISTRATION,
      indexes: {
        [BY_TENANT]: byTenant,
        [BY_NAMED_SECRET]: (registration) => named(registration, [registration.spec.keySecretRef?.name]),
      },
    }),
    webhooks: informer({
      ...deps,
      kind: WEBHOOK,
      indexes: { [BY_TENANT]: byTenant, [BY_NAMED_SECRET]: (webhook) => named(webhook, [webhook.spec.secretRef?.name]) },
    }),
    namespaces: namespacesInformer,
    namedSecrets: informer({ ...deps, kind: SECRET, metadataOnly: true, labelSelector: NOT_MANAGED_BY_SELECTOR }),
    gateways: informer({ ...deps, kind: GATEWAY, mayBeMissing: true, transform: programmedOnly }),
    owned: new OwnedInformers((kind) =>
      informer({
        ...deps,
        kind,
        labelSelector: MANAGED_BY_SELECTOR,
        mayBeMissing: kind.group === HTTP_ROUTE.group,
        packed: true,
        ...transformOf(kind),
      }),
    ),
  };
}

const transformOf = <T extends KubeObject>(kind: Kind<T>): { transform?: (object: Observed<T>) => Observed<T> } =>
  kind.kind === HORIZONTAL_POD_AUTOSCALER.kind ? { transform: withoutMeasurements as (object: Observed<T>) => Observed<T> } : {};

export const allInformers = ({ owned, ...others }: Informers): readonly Informer<KubeObject>[] => [
  ...(Object.values(others) as unknown as Informer<KubeObject>[]),
  ...owned.all,
];

/** Returns the kinds for which the API server has not sent the first list. */
export const missingLists = (informers: Informers): string[] => [
  ...new Set(allInformers(informers).flatMap(({ store }) => (store.hasSynced ? [] : [store.kind.kind]))),
];
