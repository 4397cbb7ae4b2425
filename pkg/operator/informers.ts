import { informer, type Informer } from '../kube/informer.ts';
import {
  CONFIG_MAP,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  INGRESS,
  NAMESPACE,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  type ConfigMap,
  type Deployment,
  type EndpointSlice,
  type Ingress,
  type Namespace,
  type Secret,
  type Service,
  type ServiceAccount,
} from '../kube/kinds.ts';
import type { Kind, KubeObject, Observed } from '../kube/object.ts';
import type { Store } from '../kube/store.ts';
import type { KubeClient } from '../kube/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { LTI_REGISTRATION, TENANT, WEBHOOK, type LtiRegistration, type Tenant, type Webhook } from './kinds.ts';
import { MANAGED_BY_SELECTOR, NOT_MANAGED_BY_SELECTOR } from './names.ts';

/** The objects that the operator made, of all namespaces, found by their label. */
export interface OwnedStores {
  readonly serviceAccounts: Store<ServiceAccount>;
  readonly configMaps: Store<ConfigMap>;
  readonly secrets: Store<Secret>;
  readonly deployments: Store<Deployment>;
  readonly services: Store<Service>;
  readonly endpointSlices: Store<EndpointSlice>;
  readonly ingresses: Store<Ingress>;
}

export interface Informers {
  readonly tenants: Informer<Tenant>;
  readonly registrations: Informer<LtiRegistration>;
  readonly webhooks: Informer<Webhook>;
  readonly namespaces: Informer<Namespace>;
  /** Secrets of people's, without their data: what changed is read when it is needed. */
  readonly namedSecrets: Informer<Secret>;
  readonly owned: { readonly [Name in keyof OwnedStores]: Informer<OwnedStores[Name] extends Store<infer T> ? T : never> };
}

/** Index of what refers to a tenant, and of what names a Secret: values are `namespace/name`. */
export const BY_TENANT = 'tenant';
export const BY_NAMED_SECRET = 'named-secret';

interface Deps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Every copy that the operator keeps; they are kept on standbys too, so that one takes over warm. */
export function createInformers(deps: Deps): Informers {
  const owned = <T extends KubeObject>(kind: Kind<T>): Informer<T> => informer({ ...deps, kind, labelSelector: MANAGED_BY_SELECTOR });
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
          named(tenant, [tenant.spec.admin?.passwordSecretRef?.name, tenant.spec.storage.credentialsSecretRef?.name]),
      },
    }),
    registrations: informer({
      ...deps,
      kind: LTI_REGISTRATION,
      indexes: { [BY_TENANT]: byTenant, [BY_NAMED_SECRET]: (registration) => named(registration, [registration.spec.keySecretRef?.name]) },
    }),
    webhooks: informer({
      ...deps,
      kind: WEBHOOK,
      indexes: { [BY_TENANT]: byTenant, [BY_NAMED_SECRET]: (webhook) => named(webhook, [webhook.spec.secretRef?.name]) },
    }),
    namespaces: informer({ ...deps, kind: NAMESPACE, metadataOnly: true }),
    namedSecrets: informer({ ...deps, kind: SECRET, metadataOnly: true, labelSelector: NOT_MANAGED_BY_SELECTOR }),
    owned: {
      serviceAccounts: owned(SERVICE_ACCOUNT),
      configMaps: owned(CONFIG_MAP),
      secrets: owned(SECRET),
      deployments: owned(DEPLOYMENT),
      services: owned(SERVICE),
      endpointSlices: owned(ENDPOINT_SLICE),
      ingresses: owned(INGRESS),
    },
  };
}

export const allInformers = ({ owned, ...others }: Informers): readonly Pick<Informer<KubeObject>, 'run'>[] => [
  ...Object.values(others),
  ...Object.values(owned),
];

export const ownedStores = ({ owned }: Informers): OwnedStores => ({
  serviceAccounts: owned.serviceAccounts.store,
  configMaps: owned.configMaps.store,
  secrets: owned.secrets.store,
  deployments: owned.deployments.store,
  services: owned.services.store,
  endpointSlices: owned.endpointSlices.store,
  ingresses: owned.ingresses.store,
});

export const haveSynced = ({ owned, ...others }: Informers): boolean =>
  [...Object.values(others), ...Object.values(owned)].every(({ store }) => store.hasSynced);
