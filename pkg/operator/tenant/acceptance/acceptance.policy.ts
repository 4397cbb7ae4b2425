import { quantityToNumber } from '../../../kube/quantity.ts';
import type { Tenant } from '../../kinds.ts';
import { slugOf } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import { addressesOf, hostsOf, type Addresses, type Hosts } from './addresses.ts';
import { connectionsOf, connectionsRefusal } from '../database/role-connections.ts';
import { hostRefusalOf } from './hosts.policy.ts';
import { allows, podRefusal } from './pod.policy.ts';
import { schedulesRefusal } from '../specified/schedules.policy.ts';

/** The reason for `Accepted=False`. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** The largest size that a JSON number carries exactly. */
const MAX_BYTES = Number.MAX_SAFE_INTEGER;

/** A Tenant that follows the operator's rules, with the values that result from its spec. */
export interface Acceptable {
  readonly slug: string;
  readonly hosts: Hosts;
  readonly addresses: Addresses;
  /** Connections to Postgres that its role may hold. */
  readonly connections: number;
}

/** Checks what the API server cannot check, since it depends on the operator's settings. */
export function accept(tenant: Tenant, settings: OperatorSettings, shards: readonly string[]): Acceptable | Refusal {
  const refusal = refusalOf(tenant, settings, shards);
  if (refusal) return refusal;
  const hosts = hostsOf(tenant, settings);
  if ('missing' in hosts)
    return { reason: 'HostMissing', message: `set ${hosts.missing.join(' and ')}: this operator has no base domain` };
  const slug = slugOf(tenant);
  const hostRefusal = hostRefusalOf({ slug, namespace: tenant.metadata.namespace, hosts }, settings);
  return hostRefusal ?? { slug, hosts, addresses: addressesOf(tenant, hosts, settings), connections: connectionsOf(tenant) };
}

function refusalOf(tenant: Tenant, settings: OperatorSettings, shards: readonly string[]): Refusal | undefined {
  const { spec } = tenant;
  return (
    imageRefusal(spec.image, settings) ??
    annotationRefusal(tenant, settings) ??
    podRefusal(tenant, settings) ??
    shardRefusal(tenant, shards) ??
    sizeRefusal(tenant) ??
    connectionsRefusal(tenant, settings) ??
    schedulesRefusal(tenant)
  );
}

function imageRefusal(image: string | undefined, settings: OperatorSettings): Refusal | undefined {
  if (image === undefined) return undefined;
  const allowed = new Set([repositoryOf(settings.image), ...settings.imageRepositories]);
  if (allowed.has(repositoryOf(image))) return undefined;
  return { reason: 'ImageNotAllowed', message: `spec.image: this operator accepts only images of ${[...allowed].join(', ')}` };
}

/** `host:5000/team/carrel:1.2@sha256:…` → `host:5000/team/carrel` */
export function repositoryOf(image: string): string {
  const [named = ''] = image.split('@');
  const colon = named.lastIndexOf(':');
  return colon > named.lastIndexOf('/') ? named.slice(0, colon) : named;
}

function annotationRefusal({ spec }: Tenant, settings: OperatorSettings): Refusal | undefined {
  const foreign = Object.keys(spec.exposure.annotations ?? {}).filter((key) => !allows(settings.ingressAnnotations, key));
  if (foreign.length === 0) return undefined;
  return {
    reason: 'AnnotationNotAllowed',
    message: `spec.exposure.annotations: this operator does not accept ${foreign.join(', ')}`,
  };
}

function shardRefusal({ spec }: Tenant, shards: readonly string[]): Refusal | undefined {
  const { shard } = spec.database;
  if (shard === undefined || shards.includes(shard)) return undefined;
  return { reason: 'ShardUnknown', message: `spec.database.shard: there is no shard ${shard}; there are ${shards.join(', ')}` };
}

function sizeRefusal({ spec }: Tenant): Refusal | undefined {
  const { defaultUserQuota, maxUploadSize } = spec.storage;
  const sizes = {
    'spec.storage.defaultUserQuota': defaultUserQuota,
    'spec.storage.maxUploadSize': maxUploadSize,
    'spec.limits.storage': spec.limits.storage,
    'spec.limits.database': spec.limits.database,
  };
  const wrong = Object.entries(sizes).find(([, size]) => size !== undefined && quantityToNumber(String(size)) > MAX_BYTES);
  return wrong && { reason: 'SizeTooLarge', message: `${wrong[0]} is more than ${MAX_BYTES} bytes` };
}
