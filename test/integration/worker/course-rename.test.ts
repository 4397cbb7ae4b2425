import { afterAll, expect, test } from '@jest/globals';
import { INSTRUCTOR } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { registeredLms, type Registration } from '../../support/lms/registration.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { addWebhook, writtenEvents } from '../../support/clients/webhooks.ts';
import { startWorkerProcess, type WorkerProcess } from '../../support/programs/worker-process.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';

const platform = platformSuite();
const tenant = platformTenant(platform);
const at: Registration = fixture(
  () => registeredLms(tenant),
  ({ lms }) => lms.stop(),
);
let worker: WorkerProcess | undefined;
afterAll(() => worker?.end('SIGTERM'));

const FILES = 1_200;

test('a launch does not wait for the rename of a large course: a job changes its paths later', async () => {
  await addWebhook(tenant, { events: ['file.updated'] });
  const titled = (title: string) => ({ user: { id: 'prof' }, roles: [INSTRUCTOR], course: { id: 'large', title } });
  await launched(tenant, at, titled('First'));
  const [folder] = await tenant.db.query<{ id: number; uuid: string }>(`SELECT id, uuid FROM folders WHERE name = 'First'`);
  await tenant.db.query(
    `INSERT INTO files (uuid, name, path, mime_type, size, owner_id, folder_id, blob_container, blob_name)
     SELECT gen_random_uuid(), n || '.txt', d.path || '/' || n || '.txt', 'text/plain', 0, d.owner_id, d.id, 'c', 'k' || n
     FROM folders d, generate_series(1, ${FILES}) n WHERE d.id = $1`,
    [folder?.id],
  );
  const names = async (): Promise<string[]> =>
    (
      await tenant.db.query<{ name: string }>(
        `SELECT name FROM folders WHERE id = $1 UNION SELECT split_part(path, '/', 2) FROM files WHERE folder_id = $1`,
        [folder?.id],
      )
    ).map(({ name }) => name);

  await launched(tenant, at, titled('Second'));
  const meanwhile = await names();
  await launched(tenant, at, titled('Third'));
  worker = await startWorkerProcess(platform);
  const after = await waitFor('the jobs', async () => {
    const left = await tenant.db.query(`SELECT FROM carrel.work WHERE kind = 'course.rename'`);
    return left.length === 0 && (await names());
  });
  const events = await writtenEvents(tenant);
  const audit = await tenant.admin.get('/audit', { query: { target_id: folder?.uuid ?? '', action: 'folder.update' } });

  expect(meanwhile).toEqual(['First']);
  expect(after).toEqual(['Third']);
  expect(events).toHaveLength(FILES);
  expect(new Set(events.map(({ data }) => String(data.path))).size).toBe(FILES);
  expect(events.every(({ data }) => String(data.path).startsWith('/Third/'))).toBe(true);
  expect(audit.body.data).toEqual([expect.objectContaining({ actor: { system: true } })]);
});
