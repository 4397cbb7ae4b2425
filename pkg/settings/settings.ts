import { type Endpoint, endpoint, reply, tagged } from '../api/endpoint.ts';
import type { Feature } from '../feature/feature.ts';
import type { TenantServices } from '../feature/services.ts';
import { SettingsChanges, SettingsView } from './settings.schema.ts';
import { Settings } from './settings.service.ts';
import { TenantSettingsView } from './tenant-settings.schema.ts';
import { tenantSettingsOf } from './tenant-settings.sql.ts';
import { presentTenantSettings } from './tenant-settings.view.ts';

/** What administrators decide for all people of the tenant, at /settings, and what its Tenant resource sets. */
export const settings: Feature = {
  name: 'settings',
  create: (services) => ({ endpoints: [...settingsEndpoints(new Settings(services)), tenantSettings(services)] }),
};

const SETTINGS = { path: '/settings', tag: 'settings', replies: { 200: SettingsView } } as const;

const settingsEndpoints = (of: Settings): Endpoint[] => [
  endpoint({
    ...SETTINGS,
    method: 'get',
    operationId: 'getSettings',
    summary: 'Show the settings that apply to all people of the tenant',
    caller: { permission: 'read:settings' },
    handle: async () => tagged(200, await of.show()),
  }),
  endpoint({
    ...SETTINGS,
    method: 'patch',
    operationId: 'updateSettings',
    summary: 'Change settings; a change of the policy of share links applies to the links that exist too',
    caller: { permission: 'write:settings' },
    body: SettingsChanges,
    errors: ['managed', 'precondition_failed'],
    idempotent: true,
    handle: async ({ body, request }) => tagged(200, await of.change(body, request.ifMatch)),
  }),
];

const tenantSettings = (services: TenantServices): Endpoint =>
  endpoint({
    method: 'get',
    path: '/settings/tenant',
    operationId: 'getTenantSettings',
    summary: 'Show what the Tenant resource sets for all people of the tenant, and what is used of its limits',
    tag: 'settings',
    caller: { permission: 'read:settings' },
    replies: { 200: TenantSettingsView },
    handle: async () => reply(200, presentTenantSettings(services, await tenantSettingsOf(services.db))),
  });
