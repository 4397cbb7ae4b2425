import { expect, test } from '@jest/globals';
import { endOf, MIB, multipartUploads, multiply, newFile, newFolder, requestExport } from '../../support/clients/exports.ts';
import { whileHeld } from '../../support/fakes/held-changes.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';

const { platform } = workerSuite();
const [tenant, other] = [platformTenant(platform), platformTenant(platform)];
const uploads = fixture(
  async () => multipartUploads(tenant),
  async (opened) => opened.close(),
);
/** More than the end of an archive without Zip64 counts. */
const FOLDERS = Number(process.env['CARREL_TEST_FOLDERS'] ?? 70_000);

test('twenty exports of two people become archives, and that of another tenant does not wait for them', async () => {
  const people = [await tenant.user(), await tenant.user()];
  const { api } = await other.user();
  const top = await newFolder(api, 'small');
  await newFile(api, top, 'a.txt');
  const folders = await Promise.all(
    people.map(async ({ api }) => {
      const folder_id = await newFolder(api, 'large');
      await multiply(tenant, await newFile(api, folder_id, 'part', Buffer.alloc(6 * MIB, 'x')), 1);
      return { api, folder_id };
    }),
  );
  // None of the twenty ends before that of the other tenant has, however late the other one is requested.
  const { all, small } = await whileHeld(tenant, { table: 'export_uploads', row: 'cardinality(NEW.etags) > 0' }, async () => {
    const requested = await Promise.all(
      folders.map(async ({ api, folder_id }) => {
        const jobs = await Promise.all(range(10).map(() => requestExport(api, { folder_id })));
        return jobs.map(({ id }) => ({ api, id: String(id) }));
      }),
    );
    return { all: requested.flat(), small: await endOf(api, (await requestExport(api, { folder_id: top })).id) };
  });
  const ends = await Promise.all(all.map((job) => endOf(job.api, job.id)));

  expect(small.state).toBe('succeeded');
  expect(ends.filter(({ ended_at }) => ended_at > small.ended_at)).toHaveLength(20);
  expect(countBy(ends, ({ state }) => state)).toEqual({ succeeded: 20 });
  expect(new Set(ends.map(({ result }) => result.size)).size).toBe(1);
  expect(await uploads.count()).toBe(0);
});

test(`${FOLDERS} empty folders are exported as one archive, and others' exports go on meanwhile`, async () => {
  const { api } = await tenant.user();
  const top = await newFolder(api, 'empty');
  for (let from = 1; from <= FOLDERS; from += 2_000)
    await tenant.db.query(
      `INSERT INTO folders (uuid, name, path, parent_id, owner_id)
       SELECT gen_random_uuid(), n::text, d.path || '/' || n, d.id, d.owner_id FROM folders d, generate_series($2::int, $3::int) n
       WHERE d.uuid = $1`,
      [top, from, Math.min(FOLDERS, from + 1_999)],
    );
  const large = await requestExport(api, { folder_id: top });
  await waitFor('it to begin', async () => (await api.get(`/jobs/${large.id}`)).body.state !== 'queued');
  const someone = await other.user();
  const few = await newFolder(someone.api, 'few');
  const small = await endOf(someone.api, (await requestExport(someone.api, { folder_id: few })).id);
  const end = await endOf(api, large.id);
  const { bytes } = await tenant.anonymous.raw('GET', end.result.url);

  expect([small.state, end.state]).toEqual(['succeeded', 'succeeded']);
  // The record of Zip64, which precedes the former end record.
  const zip64 = bytes.lastIndexOf(Buffer.from('PK\u0006\u0006', 'latin1'));
  expect(Number(bytes.readBigUInt64LE(zip64 + 32))).toBe(FOLDERS + 1);
});
