import { FIELDS } from '../../../crds/fields.generated.ts';
import { LTIREGISTRATIONS, TENANTS, WEBHOOKS } from '../../../crds/types.generated.ts';
import { isNotFound } from '../../kube/errors.ts';
import { LEASE } from '../../kube/kinds.ts';
import { defineKind, type KubeObject } from '../../kube/object.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { type Condition, findCondition } from '../../kube/status.ts';
import type { KubeClient } from '../../kube/transport.ts';
import { listIn } from '../tenant-namespaces.ts';
import type { Check } from './check.ts';
import { fieldsOf, type FieldSchema } from './schema-fields.ts';

type WithConditions = KubeObject & { status?: { conditions?: Condition[] } };

const KINDS = [TENANTS, LTIREGISTRATIONS, WEBHOOKS].map((resource) => defineKind<WithConditions>(resource));

/** A Lease that was not renewed for this long has no holder: twice its own 15 s. */
const LEASE_MS = 30_000;
/** The maximum number of resources of a kind that are named. */
const MOST_NAMED = 20;
/** The maximum number of fields of a kind that are named. */
const MOST_FIELDS = 5;
/** A condition that waits for this long does not resolve on its own, such as for a Gateway that nobody programs. */
const WAITING_MS = 600_000;
/** Reasons that are intended, or that pass on their own. */
const NOT_WRONG = new Set(['Suspended', 'ScaledToZero', 'Deleting', 'ClientIdMissing', 'Pending', 'RollingOut']);

/**
 * Checks of the API server. `namespace` is the operator's own; `tenantNamespaces` are those that may have Tenants, empty: all.
 */
export const clusterChecks = (client: KubeClient, namespace: string, tenantNamespaces: readonly string[]): Check[] => [
  {
    subject: 'API server',
    run: async () => (await client.request<{ gitVersion: string }>({ method: 'GET', path: '/version' })).gitVersion,
  },
  { subject: 'custom resources', run: () => definitions(client) },
  { subject: 'operator', run: () => leader(client, namespace) },
  ...KINDS.map((kind): Check => ({
    subject: kind.plural,
    run: () => readiness(new ResourceApi(client, kind), tenantNamespaces),
  })),
];

/** Uses discovery, which everybody may ask. */
async function definitions(client: KubeClient): Promise<string | string[]> {
  const path = `/apis/${TENANTS.group}/${TENANTS.version}`;
  const served = await client.request<{ resources: { name: string }[] }>({ method: 'GET', path }).catch((error: unknown) => {
    if (isNotFound(error)) return { resources: [] };
    throw error;
  });
  const missing = KINDS.filter(({ plural }) => !served.resources.some(({ name }) => name === plural));
  if (missing.length === 0) {
    const older = await olderSchemas(client);
    return older.length > 0 ? older : `${KINDS.map(({ kind }) => kind).join(', ')} are served and of this release`;
  }
  return missing.map(
    ({ kind }) =>
      `${kind} is not served in ${TENANTS.version}. Install the chart, or kubectl apply --server-side -f crds/ of this release`,
  );
}

interface ServedSchema extends FieldSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[];
}

/** Finds older schemas: the API server drops fields that its schema does not know, even those of a status. */
async function olderSchemas(client: KubeClient): Promise<string[]> {
  const path = `/openapi/v3/apis/${TENANTS.group}/${TENANTS.version}`;
  const { components } = await client.request<{ components: { schemas: Record<string, ServedSchema> } }>({ method: 'GET', path });
  const schemas = Object.values(components.schemas);
  return KINDS.flatMap(({ kind }) => {
    const served = schemas.find((schema) => schema['x-kubernetes-group-version-kind']?.some((each) => each.kind === kind));
    if (!served) return [];
    const known = new Set(fieldsOf(served));
    const unknown = (FIELDS[kind] ?? []).filter((field) => !known.has(field));
    if (unknown.length === 0) return [];
    const named = [...unknown.slice(0, MOST_FIELDS), ...(unknown.length > MOST_FIELDS ? ['…'] : [])].join(', ');
    return [
      `${kind} is of an earlier release: it lacks ${named}. ` +
        'Upgrade the chart, or kubectl apply --server-side -f crds/ of this release',
    ];
  });
}

async function leader(client: KubeClient, namespace: string): Promise<string | string[]> {
  const lease = await new ResourceApi(client, LEASE).find({ namespace, name: 'carrel-operator' });
  const { holderIdentity, renewTime } = lease?.spec ?? {};
  if (!lease)
    return [
      `no operator has ever led in namespace ${namespace}: its Lease carrel-operator is missing. ` +
        "Look at the operator's pods and log",
    ];
  if (!holderIdentity) return ['no operator leads: the last one released the Lease. Look at the operator’s pods and log'];
  const age = Date.now() - Date.parse(String(renewTime));
  if (age > LEASE_MS)
    return [
      `no operator leads: ${holderIdentity} has not renewed its Lease for ${Math.round(age / 1_000)} s. Look at its pod and log`,
    ];
  return `${holderIdentity} leads`;
}

async function readiness(api: ResourceApi<WithConditions>, namespaces: readonly string[]): Promise<string | string[]> {
  const all = await listIn(api, namespaces);
  const wrong = all.flatMap(({ metadata, status }) => {
    const found = findCondition(status?.conditions, 'Ready');
    const name = `${metadata.namespace}/${metadata.name}`;
    if (!found) return [`${name} has no condition yet: no operator has processed it`];
    if (found.status === 'True' || NOT_WRONG.has(found.reason)) return [];
    if (found.reason.startsWith('WaitingFor') && Date.now() - Date.parse(found.lastTransitionTime) < WAITING_MS) return [];
    return [`${name}: ${found.reason}: ${found.message}`];
  });
  const named = wrong.slice(0, MOST_NAMED);
  if (wrong.length > named.length) named.push(`and ${wrong.length - named.length} more: kubectl get ${api.kind.plural} -A`);
  return named.length > 0 ? named : `${all.length}, none of which needs attention`;
}
