import type { SampleFiles } from './files.ts';
import type { TenantClient } from './tenant-client.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Starts jobs of several kinds, and adds a webhook and schedules of the tenant's own. */
export async function addWork(admin: TenantClient, receiverUrl: string, files: SampleFiles): Promise<void> {
  const { course, thesis, lectures, photos } = files;
  const [first] = lectures;
  await Promise.all([
    admin.post('/webhooks', {
      url: `${receiverUrl}/library`,
      events: ['file.created', 'file.deleted'],
      // The receiver knows no secret of this webhook and refuses what it sends.
      description: 'Catalogue of the library (it refuses the signature)',
    }),
    admin.post('/schedules', {
      name: 'Copy of the thesis, every working day',
      kind: 'export_folder',
      arguments: { folder_id: thesis.id, keep: 7 },
      cron: '30 2 * * mon-fri',
      time_zone: 'Europe/Berlin',
    }),
    admin.post('/schedules', {
      name: 'Empty the trash on Sundays',
      kind: 'empty_trash',
      cron: '0 4 * * sun',
      time_zone: 'Europe/Berlin',
    }),
    admin.post('/schedules', {
      name: 'People of all courses, every morning',
      kind: 'sync_rosters',
      cron: '0 6 * * *',
      time_zone: 'Europe/Berlin',
    }),
    admin.post('/schedules', {
      name: 'Checksums, once a month',
      kind: 'verify_checksums',
      cron: '15 1 1 * *',
      time_zone: 'Europe/Berlin',
    }),
    admin.post('/exports', { folder_id: course.id }),
    admin.post(`/files/${first.id}/optimize`, { as: 'copy' }),
    admin.post('/batch', {
      operation: 'set_metadata',
      // One of them does not exist, so that a job shows a failure.
      items: [...photos.map(({ id }) => ({ type: 'file', id })), { type: 'file', id: NOBODY }],
      arguments: { key: 'place', value: 'Coast', value_type: 'string' },
    }),
  ]);
}
