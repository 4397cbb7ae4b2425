import { CONFIG_MAP, type ConfigMap } from '../../../kube/kinds.ts';
import { wholeBytes } from '../../../kube/quantity.ts';
import type { Tenant } from '../../kinds.ts';
import { identity, slugOf } from '../../names.ts';
import type { OperatorSettings } from '../../settings.ts';
import type { Addresses } from '../addresses.ts';

/** The server's settings that are no secret: its environment, as cmd/server/config.ts reads it. */
export const configMap = (
  tenant: Tenant,
  claim: { readonly tenantId: string; readonly addresses: Addresses },
  settings: Pick<OperatorSettings, 'trustedProxies' | 'logLevel' | 'egressAllow'>,
): ConfigMap => ({
  ...identity(tenant, CONFIG_MAP, tenant.metadata.name),
  data: {
    CARREL_TENANT_SLUG: slugOf(tenant),
    CARREL_TENANT_ID: claim.tenantId,
    CARREL_APP_URL: claim.addresses.appUrl,
    CARREL_LTI_URL: claim.addresses.ltiUrl,
    CARREL_DATABASE_POOL_SIZE: String(tenant.spec.database.poolSize),
    CARREL_LIMIT_USER_PER_MINUTE: String(tenant.spec.limits.requestsPerUserPerMinute),
    CARREL_LIMIT_TENANT_PER_MINUTE: String(tenant.spec.limits.requestsPerTenantPerMinute),
    CARREL_LIMIT_IP_PER_HOUR: String(tenant.spec.limits.requestsPerIpPerHour),
    CARREL_DEFAULT_USER_QUOTA_BYTES: bytes(tenant.spec.storage.defaultUserQuota),
    ...(tenant.spec.storage.maxUploadSize === undefined ? {} : { CARREL_MAX_UPLOAD_BYTES: bytes(tenant.spec.storage.maxUploadSize) }),
    CARREL_TRUSTED_PROXIES: String(settings.trustedProxies),
    CARREL_LOG_LEVEL: settings.logLevel,
    ...(settings.egressAllow === '' ? {} : { CARREL_EGRESS_ALLOW: settings.egressAllow }),
  },
});

const bytes = (quantity: number | string): string => String(wholeBytes(quantity));
