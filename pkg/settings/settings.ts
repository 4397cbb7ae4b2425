import { type Endpoint, endpoint, tagged } from '../api/endpoint.ts';
import type { Feature } from '../feature/feature.ts';
import { SettingsChanges, SettingsView } from './settings.schema.ts';
import { Settings } from './settings.service.ts';

/** What administrators decide for all people of the tenant, at /settings. */
export const settings: Feature = {
  name: 'settings',
  create: ({ db, tenant }) => ({ endpoints: settingsEndpoints(new Settings({ db, tenant })) }),
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
