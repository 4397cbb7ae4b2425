import { ownerReference } from '../../../kube/owner.ts';
import { TENANT, type ObservedTenant } from '../../kinds.ts';
import { labels } from '../../names.ts';
import type { SecretOwner } from '../../secrets.ts';

export const secretOwner = (tenant: ObservedTenant): SecretOwner => ({
  namespace: tenant.metadata.namespace,
  reference: ownerReference(tenant, TENANT),
  labels: labels(tenant),
});
