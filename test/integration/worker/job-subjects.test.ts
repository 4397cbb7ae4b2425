import { expect, test } from '@jest/globals';
import { batchEnd, filesOf, foldersOf, jobEnd } from '../../support/clients/batches.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform } = workerSuite();
const tenant = platformTenant(platform);

type Person = Awaited<ReturnType<typeof tenant.user>>;

const upload = async ({ api }: Person, name: string, file: Buffer = Buffer.from('a')): Promise<string> =>
  (await api.upload('/files', { name, file })).body.id;

test('a job names its file or folder from the request on, by the name that it had then', async () => {
  const ada = await tenant.user();
  const archive = await upload(ada, 'course.zip', zipBytes([{ name: 'plan.txt', content: 'Plan.' }]));
  const { body: folder } = await ada.api.post('/folders', { name: 'Thesis' });
  const { body: unpacked } = await ada.api.post('/imports', { file_id: archive });
  const { body: copied } = await ada.api.post(`/folders/${folder.id}/copy`, { name: 'Copy' });
  await ada.api.patch(`/files/${archive}`, { name: 'other.zip' });
  const subjects = [
    { type: 'file', id: archive, name: 'course.zip' },
    { type: 'folder', id: folder.id, name: 'Thesis' },
  ];

  const ends = [await jobEnd(ada.api, unpacked.id), await jobEnd(ada.api, copied.id)];

  expect([unpacked, copied].map(({ subject }) => subject)).toEqual(subjects);
  expect(ends.map(({ subject }) => subject)).toEqual(subjects);
});

test('a batch and an export name the first of their items', async () => {
  const ada = await tenant.user();
  const [first, second] = [await upload(ada, 'first.txt'), await upload(ada, 'second.txt')];
  const { body: folder } = await ada.api.post('/folders', { name: 'There' });
  const { subject } = await batchEnd(ada.api, {
    operation: 'move',
    items: filesOf([first, second]),
    arguments: { folder_id: folder.id },
  });
  const { body: packed } = await ada.api.post('/exports', { items: foldersOf([folder.id]) });

  expect(subject).toEqual({ type: 'file', id: first, name: 'first.txt' });
  expect((await jobEnd(ada.api, packed.id)).subject).toEqual({ type: 'folder', id: folder.id, name: 'There' });
});

test('what one may not see has no name in a job, and administrators do not see what a job of another is about', async () => {
  const [ada, eve] = [await tenant.user(), await tenant.user()];
  const hidden = await upload(ada, 'hidden.txt');
  const { id, subject } = await batchEnd(ada.api, { operation: 'delete', items: filesOf([hidden]), dry_run: true });
  const refused = await batchEnd(eve.api, { operation: 'delete', items: filesOf([hidden]) });
  const { body: all } = await tenant.admin.get('/jobs', { query: { all: true } });

  expect([subject.name, refused.subject]).toEqual(['hidden.txt', null]);
  expect((await tenant.admin.get(`/jobs/${id}`)).body.subject).toBeNull();
  expect(all.data.every((job: { subject: unknown }) => job.subject === null)).toBe(true);
  expect(JSON.stringify(all)).not.toContain('hidden.txt');
});
