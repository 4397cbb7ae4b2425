import { EARLIER, LATER, type Rows, uuid } from './row-values.ts';

const TENANT = 'tenant_biology';
export const ROWS_OF_SHARD: Rows = {
  tenants: [
    {
      role: TENANT,
      tenant_id: 3,
      fingerprint: 'a'.repeat(64),
      schema_version: '0001-baseline',
      storage_limit: 1e12,
      files_limit: 1e6,
      events_limit: 5,
      outbox_full: true,
    },
  ],
  work: [
    {
      tenant: TENANT,
      kind: 'objects.purge',
      payload: { keys: ['k'] },
      attempts: 2,
      leased_until: EARLIER,
      fence: uuid(1),
      last_error: 'no answer',
      queue: 'grades',
      traceparent: 't',
    },
  ],
  events: [{ tenant: TENANT, uuid: uuid(1), event: 'file.created', payload: '{}', traceparent: 't' }],
  deliveries: [
    { tenant: TENANT, event_id: 1, endpoint: uuid(90), attempts: 2, leased_until: EARLIER, fence: uuid(1), log: { at: EARLIER } },
    { tenant: TENANT, event_id: 1, endpoint: uuid(91), state: 'delivered', due_at: null, ended_at: EARLIER },
  ],
  delivery_statistics: [{ tenant: TENANT, endpoint: uuid(90), hour: EARLIER, sent: 2, failed: 1, latency: '{1,1}' }],
  webhook_health: [{ tenant: TENANT, endpoint: uuid(90), managed_ref: 'faculty/receiver' }],
  unknown_deployments: [{ tenant: TENANT, managed_ref: 'faculty/moodle', slot: 0, deployment_id: 'd', reported_at: EARLIER }],
  unknown_values: [
    { tenant: TENANT, managed_ref: 'faculty/moodle', field: 'iss', slot: 0, value: 'v', reported_at: EARLIER },
    { tenant: TENANT, managed_ref: 'faculty/moodle', field: 'lti_deployment_id', slot: 0, value: 'd' },
  ],
  deployment_changes: [{ tenant: TENANT, changed_at: EARLIER }],
  registration_requests: [{ tenant: TENANT, slot: 0, id: uuid(92), wanted: { clientId: 'c' } }],
  integrity_faults: [
    { tenant: TENANT, kind: 'wrong_size', found: 2, repaired: 1, reported_at: EARLIER },
    { tenant: TENANT, kind: 'foreign_object', found: 3, repaired: 0 },
  ],
};

export const ROWS_OF_REGISTRY: Rows = {
  shards: [{ name: 'default' }],
  tenants: [
    {
      slug: 'biology',
      namespace: 'faculty',
      namespace_uid: 'u',
      name: 'biology',
      shard: 'default',
      adopting: true,
      connections: 20,
      moving_to: 'other',
      moving_by: uuid(1),
      moving_until: LATER,
      former_shard: 'former',
    },
    {
      slug: 'history',
      namespace: 'faculty',
      namespace_uid: 'u',
      name: 'history',
      shard: 'default',
      state: 'retained',
      connections: 0,
    },
  ],
  hosts: [
    { host: 'biology.example.org', tenant_id: 1 },
    { host: 'former.example.org', tenant_id: 1, left_at: EARLIER },
  ],
  secrets: [{ tenant_id: 1, name: 'keys', sealed: 'sealed' }],
  storage_locations: [
    { endpoint: 'https://s3', bucket: 'b', prefix: 'p/', tenant_id: 1, own: true },
    { endpoint: 'https://s3', bucket: 'b', prefix: 'p/', tenant_id: 2, own: true },
  ],
  adoption_tokens: [{ tenant_id: 2, token_hash: 'a'.repeat(64), expires_at: LATER }],
  adoption_failures: [
    { tenant_id: 2, namespace_uid: 'u', name: 'other', token_hash: 'b'.repeat(64), failures: 1, retry_at: LATER },
  ],
  credentials: [{ tenant_id: 1, name: 'database', changed_at: EARLIER, step: 'rolling', step_at: EARLIER, generation: 1 }],
};
