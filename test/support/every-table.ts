import type { Sql } from '../../pkg/store/postgres/pool.ts';

/**
 * Rows for every table of a tenant's schema, of a shard's schema `carrel` and of the registry, in the order of their foreign keys, with a value in every
 * column. The tests of the migrations fail where a table or a column is left out: whoever adds one adds its values here.
 * Ids are those that an empty schema gives; user 1 is the system's.
 */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const LATER = '2099-01-01T00:00:00Z';
const EARLIER = '2025-01-01T00:00:00Z';
const PACKED = { sum: Buffer.from('sum'), plan: Buffer.from('plan'), renamed: Buffer.from('renamed') };

/** The audit log has entries of these changes too: they are made with this origin. */
export const ORIGIN = JSON.stringify({
  user: 2,
  ip: '192.0.2.1',
  request: 'request-1',
  trace: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
});

export const ROWS_OF_TENANT: Rows = {
  users: [
    {
      uuid: uuid(2),
      email: 'ada@example.org',
      username: 'ada',
      display_name: 'Administrator',
      password_hash: 'hash',
      roles: ['admin'],
      storage_used: 5 + 1024, // with an entry of metadata
      provisioned_as: 'ada@example.org',
    },
    { uuid: uuid(3), email: `${'3'.repeat(32)}@lti.invalid`, username: 'grace', contact_email: 'grace@example.org' },
  ],
  sessions: [
    { id: uuid(10), user_id: 2, expires_at: LATER, ended_at: EARLIER, ip: '192.0.2.1', user_agent: 'Browser' },
    { id: uuid(11), user_id: 3, expires_at: LATER, launch_id: 'launch-1', capped_to: ['member'] },
  ],
  refresh_tokens: [{ token_hash: 'a'.repeat(64), session_id: uuid(10), expires_at: LATER, used_at: EARLIER }],
  password_resets: [{ user_id: 2, token_hash: 'b'.repeat(64), expires_at: LATER }],
  lti_platforms: [
    {
      issuer: 'https://lms.example.org',
      auth_endpoint: 'a',
      token_endpoint: 't',
      jwks_endpoint: 'j',
      platform_name: 'LMS',
      token_audience: 't',
      frame_ancestors: ['https://lms.example.org'],
    },
  ],
  lti_tools: [
    {
      client_id: 'client',
      consumer_key: 'key',
      tool_url: 'https://tool.example.org',
      public_key: 'public',
      private_key: 'sealed',
      key_id: 'kid-1',
      platform_id: 1,
      managed_by: 'kubernetes',
      managed_ref: 'faculty/moodle',
      uuid: uuid(40),
      key_since: EARLIER,
    },
  ],
  lti_tool_keys: [
    { tool_id: 1, key_id: 'kid-0', public_key: 'public', published_at: EARLIER, published_until: LATER },
    { tool_id: 1, key_id: 'kid-2', public_key: 'public', private_key: 'sealed', published_at: EARLIER },
  ],
  lti_deployments: [{ tool_id: 1, platform_id: 1, deployment_id: 'deployment' }],
  lti_identities: [
    {
      platform_id: 1,
      subject: 'grace',
      user_id: 3,
      name_said: 'Grace',
      email_said: 'grace@example.org',
      email_given: 'former@example.org',
    },
  ],
  lti_launches: [
    {
      launch_id: 'launch-1',
      tool_id: 1,
      platform_id: 1,
      user_id: 'grace',
      context_id: 'course',
      context_label: 'HIST 101',
      resource_link_id: 'link',
      deployment_id: 'deployment',
      launch_token: 'token',
      state_token: 'state',
      nonce: 'nonce',
      roles: ['Learner'],
      ags_lineitems_url: 'https://lms.example.org/items',
      ags_lineitem_url: 'https://lms.example.org/items/1',
      ags_scopes: ['score'],
      nrps_url: 'https://lms.example.org/people',
      expires_at: LATER,
      return_url: 'https://lms.example.org/back',
      platform_url: 'https://lms.example.org',
    },
  ],
  lti_grades: [
    {
      launch_id: 'launch-1',
      user_id: 'grace',
      score: 1,
      score_maximum: 2,
      comment: 'good',
      status: 'submitted',
      line_item: 'https://lms.example.org/items/1',
      line_item_id: uuid(45),
      cell: 'c'.repeat(64),
      reason: 'late',
      attempts: 1,
      sent_at: EARLIER,
      submitted_at: EARLIER,
      revision: 2,
    },
  ],
  groups: [
    { uuid: uuid(20), name: 'Physics', platform_id: 1, context_id: 'course', created_by: 1, title_said: 'Physics' },
    { uuid: uuid(21), name: 'Friends', created_by: 2, description: 'of physics' },
  ],
  lti_line_items: [{ uuid: uuid(45), group_id: 1, tool_id: 1, url: 'https://lms.example.org/items/1' }],
  group_members: [{ group_id: 1, user_id: 3, role: 'learner' }],
  folders: [
    { uuid: uuid(30), name: 'Course', path: '/Course', owner_id: 2, revision: 3 },
    {
      uuid: uuid(31),
      name: 'Week',
      path: '/Course/Week',
      owner_id: 2,
      parent_id: 1,
      deleted_at: EARLIER,
      trashed_with: 1,
      expires_at: LATER,
    },
  ],
  files: [
    {
      uuid: uuid(40),
      name: 'Übung.pdf',
      path: '/Course/Übung.pdf',
      extension: 'pdf',
      mime_type: 'application/pdf',
      size: 5,
      checksum: 'd'.repeat(64),
      owner_id: 2,
      folder_id: 1,
      blob_container: 'bucket',
      blob_name: 'objects/1',
      is_encrypted: true,
    },
    { uuid: uuid(41), name: 'old', path: '/old', owner_id: 2, deleted_at: EARLIER, trashed_with: 2, expires_at: LATER },
  ],
  file_versions: [
    {
      file_id: 1,
      version_number: 1,
      size: 5,
      checksum: 'd'.repeat(64),
      blob_name: 'objects/1',
      comment: 'first',
      created_by: 2,
      is_encrypted: true,
      crc32: 4_294_967_295,
    },
  ],
  permissions: [
    { uuid: uuid(50), resource_type: 'folder', resource_id: 1, group_id: 1, permission_level: 'admin', granted_by: 2, expires_at: LATER },
    {
      uuid: uuid(51),
      resource_type: 'file',
      resource_id: 1,
      user_id: 3,
      permission_level: 'read',
      granted_by: 3,
      granted_through: 1,
      expires_at: LATER,
    },
  ],
  shares: [
    {
      uuid: uuid(60),
      token: 'e'.repeat(64),
      file_id: 1,
      created_by: 2,
      password_hash: 'hash',
      expires_at: LATER,
      max_downloads: 3,
      download_count: 1,
    },
  ],
  tags: [{ uuid: uuid(70), name: 'Exam', color: '#ff0000', owner_id: 2, revision: 4, updated_at: LATER }],
  file_tags: [{ file_id: 1, tag_id: 1 }],
  file_metadata: [{ file_id: 1, key: 'author', value: 'Ada', revision: 2 }],
  storage_reservations: [{ id: uuid(80), user_id: 2, bytes: 7, expires_at: LATER }],
  helpers: [{ kind: 'translate', url: 'https://translate.example.org', token: 'sealed' }],
  webhooks: [
    {
      uuid: uuid(90),
      url: 'https://receiver.example.org',
      events: ['file.created'],
      secret: 'sealed',
      previous_secret: 'sealed',
      previous_secret_until: LATER,
      headers: 'sealed',
      managed_by: 'kubernetes',
      managed_ref: 'faculty/receiver',
      created_by: 2,
      failing_since: EARLIER,
      disabled_reason: 'gone',
      last_delivery_at: EARLIER,
      last_status_code: 410,
      description: 'of the faculty',
    },
  ],
  idempotency_keys: [
    {
      user_id: 2,
      key: 'key',
      fingerprint: 'f'.repeat(64),
      locked_until: EARLIER,
      status_code: 201,
      headers: { location: '/x' },
      body: '{}',
      expires_at: LATER,
    },
  ],
  schedules: [
    {
      uuid: uuid(120),
      name: 'Nightly',
      kind: 'recount_usage',
      arguments: { a: 1 },
      cron: '0 3 * * *',
      time_zone: 'Europe/Berlin',
      active: true,
      catch_up: true,
      managed_by: 'kubernetes',
      managed_ref: 'nightly',
      saved_by: 2,
      settings: { appUrl: 'x' },
      next_tick: LATER,
      skipped: 3,
      missed: 4,
    },
  ],
  schedule_ticks: [{ schedule_id: 1, tick: EARLIER, task: uuid(101) }],
  tasks: [
    { uuid: uuid(100), kind: 'folder.copy', user_id: 2, arguments: { to: 'x' }, state: 'failed', created_at: EARLIER },
    {
      uuid: uuid(101),
      kind: 'folder.copy',
      user_id: 2,
      arguments: { to: 'x' },
      state: 'failed',
      cursor: { after: 1 },
      total: 2,
      done: 2,
      failed: 1,
      result: { folder: 'x' },
      error_code: 'conflict',
      error_message: 'is there',
      retry_of: 1,
      schedule_id: 1,
      created_at: EARLIER,
      started_at: EARLIER,
      ended_at: EARLIER,
    },
  ],
  task_requesters: [{ user_id: 2 }],
  task_items: [
    {
      task_id: 2,
      rank: 1,
      target_type: 'file',
      target: uuid(40),
      target_name: 'Übung.pdf',
      copy: uuid(42),
      copy_in: uuid(30),
      state: 'failed',
      error_code: 'conflict',
      error_message: 'is there',
      reason: 'with_folder',
      result: { share_id: uuid(50) },
      entry: { names: ['x'] },
      content: { key: 'parts/2' },
    },
  ],
  partial_uploads: [{ uuid: uuid(110), user_id: 2, length: 9, received: 5, metadata: 'filename eA==', file: uuid(40), expires_at: LATER }],
  partial_upload_segments: [{ upload_id: 1, number: 1, key: 'parts/1', size: 5 }],
  exports: [
    {
      uuid: uuid(120),
      user_id: 2,
      token: 'e'.repeat(64),
      name: 'Übung.zip',
      key: 'exports/1',
      size: 5,
      checksum: 'd'.repeat(64),
      expires_at: LATER,
      schedule: uuid(120),
    },
  ],
  export_uploads: [
    { task: uuid(100), key: 'exports/2', upload_id: 'upload', name: 'x.zip', part_bytes: 8, etags: ['tag'], gone: [1], ...PACKED },
  ],
};

const TENANT = 'tenant_biology';
export const ROWS_OF_SHARD: Rows = {
  tenants: [
    {
      role: TENANT,
      tenant_id: 3,
      fingerprint: 'a'.repeat(64),
      schema_version: '0001-people',
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
      line: 'grades',
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
  unknown_deployments: [{ tenant: TENANT, managed_ref: 'faculty/moodle', slot: 0, deployment_id: 'd', told_at: EARLIER }],
  unknown_values: [{ tenant: TENANT, managed_ref: 'faculty/moodle', field: 'iss', slot: 0, value: 'v', reported_at: EARLIER }],
  integrity_faults: [
    { tenant: TENANT, kind: 'wrong_size', found: 2, mended: 1, reported_at: EARLIER },
    { tenant: TENANT, kind: 'foreign_object', found: 3, mended: 0 },
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
    { slug: 'history', namespace: 'faculty', namespace_uid: 'u', name: 'history', shard: 'default', state: 'retained', connections: 0 },
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
  adoption_failures: [{ tenant_id: 2, namespace_uid: 'u', name: 'other', token_hash: 'b'.repeat(64), failures: 1, retry_at: LATER }],
  credentials: [{ tenant_id: 1, name: 'database', changed_at: EARLIER, step: 'rolling', step_at: EARLIER, generation: 1 }],
};

/** Inserts the rows; the search path is at their schema. The one row of `installation` is there already. */
export async function insertRows(sql: Sql, rows: Rows): Promise<void> {
  if (rows === ROWS_OF_REGISTRY) await sql.query(`UPDATE installation SET rollouts_paused_at = '${EARLIER}'`);
  for (const [table, all] of Object.entries(rows))
    for (const row of all) {
      const columns = Object.keys(row);
      await sql.query(
        `INSERT INTO "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) VALUES (${columns.map((_column, at) => `$${at + 1}`).join(', ')})`,
        Object.values(row),
      );
    }
}
