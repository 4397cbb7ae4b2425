import { CONFIG_MAP, type ConfigMap } from '../../../kube/kinds.ts';
import { wholeBytes } from '../../../kube/quantity.ts';
import { periodMs } from '../../../lti/registrations/rotation.policy.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, slugOf } from '../../names.ts';
import type { PodSettings } from '../workload/release.ts';
import type { ChildInput } from './child.ts';

/** The non-secret settings of the server: its environment, as cmd/server/config.ts reads it. */
export const configMap = (
  tenant: Tenant,
  {
    accepted,
    settings,
  }: { readonly accepted: Pick<ChildInput['accepted'], 'tenantId' | 'addresses'>; readonly settings: PodSettings },
): ConfigMap => ({
  ...identity(tenant, CONFIG_MAP, tenant.metadata.name),
  data: {
    CARREL_TENANT_SLUG: slugOf(tenant),
    CARREL_TENANT_ID: accepted.tenantId,
    ...(tenant.spec.displayName === undefined ? {} : { CARREL_TENANT_NAME: tenant.spec.displayName }),
    CARREL_TENANT_RESOURCE: `${tenant.metadata.namespace}/${tenant.metadata.name}`,
    CARREL_APP_URL: accepted.addresses.appUrl,
    CARREL_LTI_URL: accepted.addresses.ltiUrl,
    CARREL_DATABASE_POOL_SIZE: String(tenant.spec.database.poolSize),
    CARREL_LIMIT_USER_PER_MINUTE: String(tenant.spec.limits.requestsPerUserPerMinute),
    CARREL_LIMIT_TENANT_PER_MINUTE: String(tenant.spec.limits.requestsPerTenantPerMinute),
    CARREL_LIMIT_IP_PER_HOUR: String(tenant.spec.limits.requestsPerIpPerHour),
    CARREL_LIMIT_DATABASE_BYTES: bytes(tenant.spec.limits.database),
    CARREL_DEFAULT_USER_QUOTA_BYTES: bytes(tenant.spec.storage.defaultUserQuota),
    ...(tenant.spec.storage.maxUploadSize === undefined
      ? {}
      : { CARREL_MAX_UPLOAD_BYTES: bytes(tenant.spec.storage.maxUploadSize) }),
    CARREL_TRASH_RETENTION_SECONDS: String(periodMs(tenant.spec.trashRetention) / 1000),
    CARREL_VERSIONS_KEEP: String(tenant.spec.versions.keep),
    ...(tenant.spec.versions.days === undefined ? {} : { CARREL_VERSIONS_DAYS: String(tenant.spec.versions.days) }),
    CARREL_TRUSTED_PROXIES: String(settings.trustedProxies),
    CARREL_LOG_LEVEL: settings.logLevel,
    ...(settings.egressAllow === '' ? {} : { CARREL_EGRESS_ALLOW: settings.egressAllow }),
    ...(settings.trustedCertificates.length === 0 ? {} : { CARREL_TRUSTED_CERTIFICATES: settings.trustedCertificates.join('') }),
    ...tracesOf(settings),
  },
});

const tracesOf = ({ traces }: PodSettings): Record<string, string> =>
  traces
    ? {
        OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint,
        OTEL_TRACES_SAMPLER: traces.sampler,
        OTEL_TRACES_SAMPLER_ARG: String(traces.ratio),
      }
    : {};

const bytes = (quantity: number | string): string => String(wholeBytes(quantity));
