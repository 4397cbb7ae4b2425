import type { TenantServices } from '../feature/services.ts';
import type { TenantSettingsView } from './tenant-settings.schema.ts';
import type { TenantSettingsRow } from './tenant-settings.sql.ts';

type Configured = Pick<TenantServices, 'tenant' | 'addresses' | 'settings'>;

/**
 * Presents what the server knows of its Tenant resource. It names each value, so that none of the server's other settings
 * (secrets, the addresses of stores and helper services) can get into the reply.
 */
export function presentTenantSettings({ tenant, addresses, settings }: Configured, row: TenantSettingsRow): TenantSettingsView {
  const { requests, versions } = settings;
  return {
    resource: tenant.resource ?? null,
    slug: tenant.slug,
    display_name: tenant.name ?? null,
    administrators: [...row.administrators],
    addresses: { app: addresses.appUrl, lti: addresses.ltiUrl, api: addresses.apiUrl },
    limits: {
      storage: { limit: row.storageLimit, used: row.storageUsed },
      files: { limit: row.filesLimit, used: row.filesUsed },
      database: { limit: settings.maxDatabaseBytes ?? null, used: row.databaseUsed },
      default_user_quota: settings.defaultQuota ?? null,
      max_upload_size: settings.maxUploadBytes ?? null,
      requests: {
        per_user_per_minute: requests.userPerMinute,
        per_tenant_per_minute: requests.tenantPerMinute,
        per_address_per_hour: requests.addressPerHour,
      },
    },
    retention: {
      trash_seconds: settings.trashRetentionMs / 1000,
      versions_keep: versions.keep,
      versions_days: versions.days ?? null,
    },
    helpers: {
      translate: row.helpers.includes('translate'),
      pdf_optimize: row.helpers.includes('pdf_optimize'),
      pdf_translate: row.helpers.includes('pdf_translate'),
    },
  };
}
