import { etagOf } from '../api/etag.ts';
import { DEFAULT_LINK_POLICY } from './link-policy.sql.ts';
import type { SettingsView } from './settings.schema.ts';
import type { SettingsRow } from './settings.sql.ts';

/** The tenant whose settings are shown. */
export interface TenantOfSettings {
  readonly id: string;
  /** `namespace/name` of its Tenant resource. */
  readonly resource: string | undefined;
}

/** Settings that nobody has changed have the tag of revision 1, as those of a new row. */
export const settingsEtag = (tenantId: string, row: SettingsRow | undefined): string =>
  etagOf('settings', tenantId, row?.revision ?? 1);

export function presentSettings({ id, resource }: TenantOfSettings, row: SettingsRow | undefined): SettingsView {
  const { enabled, passwordRequired, maxDays, folderUploads } = row ?? DEFAULT_LINK_POLICY;
  return {
    share_links: {
      enabled,
      password_required: passwordRequired,
      max_days: maxDays,
      folder_uploads: folderUploads,
      managed_by: row?.managedBy ?? null,
    },
    tenant_resource: resource ?? null,
    updated_at: row?.updatedAt.toISOString() ?? null,
    etag: settingsEtag(id, row),
  };
}
