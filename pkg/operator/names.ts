import type { Kind } from '../kube/object.ts';
import { apiVersionOf } from '../kube/object.ts';
import type { Tenant } from './kinds.ts';

/** Names, labels and annotations that the operator writes. All are part of its interface: people's selectors depend on them. */
export const FIELD_MANAGER = 'carrel-operator';
export const PREFIX = 'carrel.dev';
export const FINALIZER = `${PREFIX}/operator`;

/** On a Tenant: a token of `carrel tenants adoption-token`, which lets it adopt retained data that another resource left. */
export const ADOPT_ANNOTATION = `${PREFIX}/adopt`;
/**
 * On a Tenant: the credentials to rotate, separated by commas, or `all`; a mark may follow after a `/`. Without a mark the
 * operator removes the annotation once the rotation has begun.
 */
export const ROTATE_ANNOTATION = `${PREFIX}/rotate`;
/** On a pod template: a hash of the configuration that the pod was started with. A new value restarts the pods. */
export const CONFIG_ANNOTATION = `${PREFIX}/config`;
/**
 * On a pod template: a hash of the settings that the pods of all tenants share (tenant/workload/release.ts). A new value reaches
 * a limited number of tenants at once.
 */
export const RELEASE_ANNOTATION = `${PREFIX}/release`;
/** On a generated Secret: a hash of its data, so that an edit is noticed without a call of the registry. */
export const CHECKSUM_ANNOTATION = `${PREFIX}/checksum`;
/**
 * On the Secret that holds the password or, where the spec names one, on that of the keys: a keyed hash of the e-mail and
 * password that were set last.
 */
export const ADMINISTRATOR_ANNOTATION = `${PREFIX}/administrator`;

/** On an LtiRegistration that the operator created: its origin, `dynamic-registration/<id of the link>`. */
export const ORIGIN_ANNOTATION = `${PREFIX}/origin`;
/** On the same: the next step for the administrator of the LMS. */
export const NEXT_STEP_ANNOTATION = `${PREFIX}/next-step`;

export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY_SELECTOR = `${MANAGED_BY_LABEL}=${FIELD_MANAGER}`;
export const NOT_MANAGED_BY_SELECTOR = `${MANAGED_BY_LABEL}!=${FIELD_MANAGER}`;

export const isSlug = (text: string): boolean => /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/.test(text);

export const slugOf = (tenant: Tenant): string => tenant.spec.slug ?? tenant.metadata.name;

export const secretNames = (tenant: Tenant) => {
  const { name } = tenant.metadata;
  return {
    database: `${name}-database`,
    redis: `${name}-redis`,
    storage: `${name}-storage`,
    keys: `${name}-keys`,
    admin: `${name}-admin`,
  } as const;
};

/** The labels that select a tenant's pods. They are immutable in a Deployment, so they must never change. */
export const podLabels = (tenant: Tenant): Record<string, string> => ({
  'app.kubernetes.io/name': 'carrel',
  'app.kubernetes.io/component': 'server',
  'app.kubernetes.io/instance': tenant.metadata.name,
});

export const labels = (tenant: Tenant): Record<string, string> => ({ ...podLabels(tenant), [MANAGED_BY_LABEL]: FIELD_MANAGER });

export const selectorText = (tenant: Tenant): string =>
  Object.entries(podLabels(tenant))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** A field selector of pods that run, will run or are ending. A pod that has ended, such as an evicted one, may stay forever. */
export const NOT_ENDED = 'status.phase!=Failed,status.phase!=Succeeded';

/** Kind, name and labels of a child. */
export const identity = (tenant: Tenant, kind: Kind, name: string) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, namespace: tenant.metadata.namespace, labels: labels(tenant) },
});
