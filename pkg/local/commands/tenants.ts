import { TENANTS } from '../../../crds/types.generated.ts';
import type { KubeObject, Observed } from '../../kube/object.ts';
import { defineKind, keyOf, keyText } from '../../kube/object.ts';
import { ResourceApi } from '../../kube/resource.ts';
import { isNotFound } from '../../kube/errors.ts';
import { SECRET } from '../../kube/kinds.ts';
import type { KubeClient } from '../../kube/transport.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface TenantObject extends KubeObject {
  status?: { conditions?: Condition[]; appUrl?: string; ltiUrl?: string };
}

const TENANT = defineKind<TenantObject>(TENANTS);

/** A tenant as `carrel status` shows it. */
export interface TenantReport {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** `waiting` may still become ready; `refused` needs a change of its resource; `suspended` is intended. */
  readonly state: 'ready' | 'waiting' | 'refused' | 'suspended';
  /** The reason why it is not ready. */
  readonly reason: string;
  readonly appUrl: string | undefined;
  readonly ltiUrl: string | undefined;
  /** E-mail of the first administrator, if its Secret exists. */
  readonly administrator: string | undefined;
}

/** Returns all tenants; none if the resources are not installed. */
export async function listTenants(client: KubeClient): Promise<TenantReport[]> {
  const secrets = new ResourceApi(client, SECRET);
  const tenants = await new ResourceApi(client, TENANT).list().catch((error: unknown) => {
    if (isNotFound(error)) return [];
    throw error;
  });
  return Promise.all(
    tenants.map(async (tenant) => {
      const { namespace, name } = keyOf(tenant);
      const email = (await secrets.find({ namespace, name: `${name}-admin` }))?.data?.['email'];
      return {
        ...reportOf(tenant),
        administrator: email === undefined ? undefined : Buffer.from(email, 'base64').toString('utf8'),
      };
    }),
  );
}

/** Conditions that do not say what is broken if they are False. */
const SUMMARIES = ['Ready', 'Stalled', 'WithinLimits', 'FieldsIgnored'];

/** Reads the conditions of a Tenant. */
function reportOf(tenant: Observed<TenantObject>): Omit<TenantReport, 'administrator'> {
  const key = keyOf(tenant);
  const conditions = tenant.status?.conditions ?? [];
  const find = (type: string): Condition | undefined => conditions.find((condition) => condition.type === type);
  const ready = find('Ready');
  const accepted = find('Accepted');
  const broken =
    accepted?.status === 'False'
      ? accepted
      : (conditions.find(({ type, status }) => !SUMMARIES.includes(type) && status === 'False') ?? ready);
  const state =
    ready?.status === 'True'
      ? 'ready'
      : ready?.reason === 'Suspended'
        ? 'suspended'
        : accepted?.status === 'False'
          ? 'refused'
          : 'waiting';
  return {
    key: keyText(key),
    ...key,
    state,
    reason:
      state === 'ready'
        ? ''
        : broken
          ? [broken.reason, broken.message].filter(Boolean).join(': ')
          : 'the operator has not seen it yet',
    appUrl: tenant.status?.appUrl,
    ltiUrl: tenant.status?.ltiUrl,
  };
}
