import { keyOf, keyText, type KubeObject, type ObjectKey } from '../kube/object.ts';
import { forMapped, type Source } from '../kube/sources.ts';
import { BY_GATEWAY, BY_NAMED_SECRET, BY_TENANT, type Informers } from './informers.ts';

interface Indexed {
  byIndex(name: string, value: string): KubeObject[];
}

/** The objects of a store whose spec names a Secret. */
export const namingSecret = (store: Indexed, { namedSecrets }: Informers): Source =>
  forMapped(namedSecrets.store, (secret) => keysBy(store, BY_NAMED_SECRET, secret));

/** The objects of a store that belong to a Tenant. */
export const belongingToTenant = (store: Indexed, { tenants }: Informers): Source =>
  forMapped(tenants.store, (tenant) => keysBy(store, BY_TENANT, tenant));

/** The Tenants that a Gateway exposes. */
export const exposedByGateway = ({ tenants, gateways }: Informers): Source =>
  forMapped(gateways.store, (gateway) => keysBy(tenants.store, BY_GATEWAY, gateway));

const keysBy = (store: Indexed, index: string, object: KubeObject): ObjectKey[] =>
  store.byIndex(index, keyText(keyOf(object))).map(keyOf);
