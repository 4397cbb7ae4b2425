import { expect, test } from '@jest/globals';
import { QUEUES } from '../../../cmd/worker/queues.ts';
import { batch } from '../../../pkg/content/batch/batch.processor.ts';
import { filesOf, jobEnd } from '../../support/clients/batches.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';
import { addWebhook } from '../../support/clients/webhooks.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';

/** The limit for a whole job: its start, its plan, one step and its end. */
const MOST_STATEMENTS = 30;
const COUNT = 100;

const platform = platformSuite();
const tenant = platformTenant(platform);
const seen: string[] = [];
fixture(
  async () => workerInProcess(platform, { queues: QUEUES, processors: [batch] }, { observe: ({ sql }) => void seen.push(sql) }),
  (worker) => worker.close(),
);
type Person = Awaited<ReturnType<typeof tenant.user>>;

const filesIn = async ({ user }: Person): Promise<string[]> => {
  const rows = await tenant.db.query<{ id: string }>(
    `WITH file AS (
       INSERT INTO files (uuid, name, path, owner_id, size, mime_type, extension, blob_name)
       SELECT gen_random_uuid(), 'n' || n, '/n' || n, u.id, 3, 'text/plain', '', gen_random_uuid()::text
       FROM users u, generate_series(1, ${COUNT}) n WHERE u.uuid = $1 RETURNING id, uuid, size, blob_name, owner_id
     ), version AS (
       INSERT INTO file_versions (file_id, version_number, size, checksum, blob_name, created_by)
       SELECT id, 1, size, repeat('0', 64), blob_name, owner_id FROM file
     ), counted AS (UPDATE users SET storage_used = 3 * ${COUNT} WHERE uuid = $1)
     SELECT uuid AS id FROM file`,
    [user.id],
  );
  return rows.map(({ id }) => id);
};

test(`a batch changes ${COUNT} files in a few statements, whatever the action, and purges their objects by one job`, async () => {
  const ada = await tenant.user();
  await addWebhook(tenant, { events: ['file.updated', 'file.deleted'] });
  const ids = await filesIn(ada);
  const { id: tag_id } = (await ada.api.post('/tags', { name: 'one' })).body;
  const { id: folder_id } = (await ada.api.post('/folders', { name: 'there' })).body;
  const counts: Record<string, number> = {};
  const run = async (operation: string, given?: object): Promise<void> => {
    seen.length = 0;
    const request = { operation, items: filesOf(ids), ...(given ? { arguments: given } : {}) };
    const end = await jobEnd(ada.api, (await ada.api.post('/batch', request)).body.id);
    counts[operation] = seen.length;
    expect({ operation, ...end.progress }).toEqual({ operation, done: COUNT, total: COUNT, failed: 0, skipped: 0 });
  };

  await run('tag', { tag_id });
  await run('untag', { tag_id });
  await run('set_metadata', { key: 'course', value: 'History' });
  await run('remove_metadata', { key: 'course' });
  await run('move', { folder_id });
  await run('delete');
  await run('restore');
  await run('purge');

  expect(Object.entries(counts).filter(([, count]) => count > MOST_STATEMENTS)).toEqual([]);
  process.stderr.write(`  statements for ${COUNT} files: ${JSON.stringify(counts)}\n`);
  const purges = await tenant.db.query<{ keys: number }>(
    `SELECT jsonb_array_length(payload -> 'keys') AS keys FROM carrel.work WHERE kind = 'objects.purge'`,
  );
  expect(purges.map(({ keys }) => keys)).toEqual([COUNT]);
});
