import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../pkg/audit/audit.schema.ts';
import { matching } from '../../../pkg/audit/audit.sql.ts';
import { Parameters } from '../../../pkg/store/postgres/keyset.ts';
import { tenantRole } from '../../../pkg/store/postgres/provisioning.ts';
import type { Api } from '../../support/clients/api.ts';
import { serverSuite } from '../../support/suites/server-suite.ts';
import { untilServed } from '../../support/wait.ts';

/** The audit log of one file or folder: `GET /audit?resource=`. */
const tenant = serverSuite();

/** The table by the name that the operator gave it. */
const AUDIT = (): string => `"${tenantRole(tenant.slug)}".audit_entries`;
const actionsOf = async (resource: string, query: Record<string, string> = {}): Promise<string[]> =>
  (await tenant.admin.get('/audit', { query: { resource, sort: 'at', ...query } })).body.data.map(
    ({ action }: AuditEntry) => action,
  );
const upload = async (api: Api, name: string): Promise<string> =>
  (await untilServed(() => api.upload('/files', { name, file: Buffer.from(name) }))).body.id;

test('of a file it has what happened to it, its grants and links, also those that are gone, and to no other file', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const [id, other] = [await upload(ada.api, 'shared.txt'), await upload(ada.api, 'other.txt')];
  const grants = `/files/${id}/permissions`;
  const { body: grant } = await ada.api.post(grants, { permission_level: 'read', user_id: bob.user.id });
  await ada.api.patch(`${grants}/${grant.id}`, { permission_level: 'write' });
  await ada.api.delete(`${grants}/${grant.id}`);
  const { body: link } = await ada.api.post(`/files/${id}/share`, {});
  const { body: another } = await ada.api.post(`/files/${other}/share`, {});
  const downloads = [
    await tenant.anonymous.get(`/s/${link.token}/download`),
    await tenant.anonymous.get(`/s/${another.token}/download`),
  ];
  await ada.api.patch(`/shares/${link.id}`, { is_active: false });
  await ada.api.delete(`/shares/${link.id}`);

  expect(downloads.map(({ status }) => status)).toEqual([200, 200]);
  expect(await actionsOf(id)).toEqual([
    'file.upload',
    'grant.create',
    'grant.update',
    'grant.delete',
    'share.create',
    'share.download',
    'share.update',
    'share.delete',
  ]);
  expect(await actionsOf(other)).toEqual(['file.upload', 'share.create', 'share.download']);
  expect(await actionsOf(id.toUpperCase(), { action: 'share.download' })).toEqual(['share.download']);
});

test('of a folder it has its grants and its links, and not what happened to a file in it', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const { body: folder } = await ada.api.post('/folders', { name: 'Handouts' });
  await ada.api.upload('/files', { name: 'week 1.txt', file: Buffer.from('a'), fields: { folder_id: folder.id } });
  await ada.api.post(`/folders/${folder.id}/permissions`, { permission_level: 'read', user_id: bob.user.id });
  await ada.api.post(`/folders/${folder.id}/share`, {});

  expect(await actionsOf(folder.id)).toEqual(['folder.create', 'grant.create', 'share.create']);
});

test('grants and links that are older than the log, and still there, are found too', async () => {
  const [ada, bob] = [await tenant.user(), await tenant.user()];
  const { body: folder } = await ada.api.post('/folders', { name: 'Old' });
  const id = await upload(ada.api, 'old.txt');
  const made: string[] = [];
  for (const at of [`/files/${id}`, `/folders/${folder.id}`]) {
    const { body: grant } = await ada.api.post(`${at}/permissions`, { permission_level: 'read', user_id: bob.user.id });
    const { body: link } = await ada.api.post(`${at}/share`, {});
    made.push(grant.id, link.id);
    await ada.api.patch(`${at}/permissions/${grant.id}`, { permission_level: 'write' });
    await ada.api.patch(`/shares/${link.id}`, { max_downloads: 5 });
  }
  await tenant.rows.pool.query(
    `DELETE FROM ${AUDIT()} WHERE action IN ('grant.create', 'share.create') AND target_id = ANY ($1::uuid[])`,
    [made],
  );

  expect(await actionsOf(id)).toEqual(['file.upload', 'grant.update', 'share.update']);
  expect(await actionsOf(folder.id)).toEqual(['folder.create', 'grant.update', 'share.update']);
});

test('it is found by indexes, however many links there were', async () => {
  await tenant.rows.pool.query(
    `INSERT INTO ${AUDIT()} (is_system, action, target_type, target_id, changes)
     SELECT true, 'share.create', 'share', gen_random_uuid(),
       jsonb_build_object('file_id', jsonb_build_object('to', gen_random_uuid()))
     FROM generate_series(1, 20000)`,
  );
  await tenant.rows.pool.query(`ANALYZE ${AUDIT()}`);
  const params = new Parameters();
  const where = matching({ resource: randomUUID(), limit: 50 })(params).join(' AND ');
  const lines = await tenant.db.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT a.id FROM audit_entries a WHERE ${where}`,
    params.values,
  );
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n');

  expect(plan).toContain('audit_entries_resource_idx');
  expect(plan).toContain('audit_entries_target_id_idx');
  expect(plan).not.toContain('Seq Scan on audit_entries');
});
