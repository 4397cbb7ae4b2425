import { expect, test } from '@jest/globals';
import { jobEnd } from '../../support/clients/batches.ts';
import { whileHeld } from '../../support/fakes/held-changes.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { range, waitFor } from '../../support/wait.ts';
import { workerSuite } from '../../support/suites/worker-suite.ts';
import { type ZipEntry, zipBytes } from '../../support/data/zip-bytes.ts';
import { faultsOf, objectCount, quotaOf } from '../content/tenant-state.ts';

const { platform, worker } = workerSuite();
type Person = Awaited<ReturnType<TestTenant['user']>>;

/** Each costs a process. */
const ARCHIVES = Number(process.env['CARREL_TEST_ARCHIVES'] ?? 24);
const COUNT = 400;
const entries = (count: number): ZipEntry[] =>
  range(count).map((n) => ({ name: `d${n % 7}/${n}.txt`, content: `content ${n}`, method: 0 }));
/** The contents that are stored together: the first ones of a large archive are there without the others. */
const STEP = 100;
/** Enough entries that no reader has read them all when the first are stored. */
const large = (letter = 'a'): Buffer =>
  zipBytes(range(COUNT).map((n) => ({ name: `${n}`, content: letter.repeat(32 << 10), method: 0 })));
const one = (entry: Partial<ZipEntry>): Buffer => zipBytes([{ name: 'a.txt', content: 'abc', ...entry }]);

/** Archives that cost a reader something before their refusal. */
const HOSTILE: readonly (() => Buffer)[] = [
  () => one({ content: Buffer.alloc(32 << 20) }),
  // Entries that share one content.
  () => zipBytes([{ name: '0', content: 'shared' }, ...range(2_000).map((n) => ({ name: `${n + 1}`, central: { offset: 0 } }))]),
  // Right but for the last of many.
  () => zipBytes([...entries(150), { name: 'last', content: 'abc', central: { crc: 1 } }]),
  // More than it says.
  () => one({ local: { size: 1 }, central: { size: 1 } }),
  // Climbs out.
  () => zipBytes([...entries(50), { name: '../../etc/passwd', content: 'x' }]),
  () => one({ central: { offset: 1_000_000 } }),
];

test(`${ARCHIVES} hostile archives of three tenants are refused and leave nothing; a fourth’s import proceeds`, async () => {
  const [honest, ...hostile] = await Promise.all(range(4).map(() => platform.tenant()));
  const people = await Promise.all(
    hostile.flatMap((tenant) => range(2).map(async () => ({ tenant, person: await tenant.user() }))),
  );
  const archives = HOSTILE.map((make) => make());
  const before = await Promise.all(hostile.map(objectCount));
  const me = await honest!.user();
  // So that all wait when the worker begins, however long their uploads take.
  await worker.end('SIGTERM');
  const requested = await Promise.all(
    range(ARCHIVES).map(async (n) => {
      const { person } = people[n % people.length]!;
      const { status, body } = await person.api.upload('/imports', { name: 'a.zip', file: archives[n % archives.length]! });
      return { person, status, id: body.id };
    }),
  );
  const mine = await me.api.upload('/imports', { name: 'a.zip', file: zipBytes(entries(20)) });
  const uploaded = await me.api.upload('/files', { name: 'meanwhile', file: Buffer.from('x') });
  await worker.start();
  const done = await jobEnd(me.api, mine.body.id);
  const jobs = requested.filter(({ status }) => status === 202);
  const ends = await Promise.all(jobs.map(({ person, id }) => jobEnd(person.api, id)));

  expect([done.state, done.result.files, uploaded.status]).toEqual(['succeeded', 20, 201]);
  // Four tenants take turns. In the order of the requests it would come last, or last but one where two are read at once.
  expect(ends.filter(({ ended_at }) => ended_at > done.ended_at).length).toBeGreaterThan(2);
  expect(new Set(requested.map(({ status }) => status))).toEqual(new Set([202]));
  expect(ends.filter(({ state, error }) => state !== 'failed' || error.code !== 'archive_refused')).toEqual([]);
  for (const { tenant, person } of people) expect(await quotaOf(tenant, person.user.id)).toBe(0);
  for (const [at, tenant] of hostile.entries()) {
    await waitFor('what was stored to go', async () => (await objectCount(tenant)) === before[at]);
    expect(await faultsOf(tenant)).toEqual([]);
    expect(await tenant.db.query('SELECT FROM storage_reservations')).toEqual([]);
  }
});

/** An import that has stored some of the archive's contents and stands still while `work` runs; then its end. */
async function interrupted(tenant: TestTenant, { api }: Person, file: string, work: (key: string) => Promise<unknown>) {
  const [row] = await tenant.db.query<{ key: string }>('SELECT blob_name AS key FROM files WHERE uuid = $1', [file]);
  const storedOf = async (job: string): Promise<number> => {
    const [count] = await tenant.db.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM task_items i JOIN tasks t ON t.id = i.task_id
       WHERE t.uuid = $1 AND i.content IS NOT NULL`,
      [job],
    );
    return count?.count ?? 0;
  };
  const ofTheNextStep = `NEW.content IS NOT NULL AND NEW.target_name = '${STEP}'`;
  const id = await whileHeld(tenant, { table: 'task_items', row: ofTheNextStep }, async () => {
    const { body } = await api.post('/imports', { file_id: file });
    await waitFor('some contents', async () => (await storedOf(body.id)) === STEP);
    await work(row?.key ?? '');
    return String(body.id);
  });
  return jobEnd(api, id);
}

test('an archive that is replaced while it is imported is imported as it was', async () => {
  const tenant = await platform.tenant();
  const person = await tenant.user();
  const { api } = person;
  const file = (await api.upload('/files', { name: 'a.zip', file: large() })).body.id;
  const end = await interrupted(tenant, person, file, async () => {
    expect((await api.upload(`/files/${file}`, { method: 'PUT', name: 'a.zip', file: one({}) })).status).toBe(200);
  });

  expect([end.state, end.result.files]).toEqual(['succeeded', COUNT]);
});

test.each([
  ['another archive of that size', () => large('b')],
  ['a shorter one', () => zipBytes(entries(3))],
])(
  'an archive in whose object its tenant writes %s while it is imported is refused, and leaves nothing',
  async (_what, other) => {
    const tenant = await platform.tenant();
    const person = await tenant.user();
    const archive = large();
    const file = (await person.api.upload('/files', { name: 'a.zip', file: archive })).body.id;

    const before = await objectCount(tenant);

    const end = await interrupted(tenant, person, file, (key) => tenant.objects.put(key, other()));

    expect([end.state, end.error?.code]).toEqual(['failed', 'archive_refused']);
    expect(await quotaOf(tenant, person.user.id)).toBe(archive.length);
    await waitFor('what was stored to go', async () => (await objectCount(tenant)) === before);
  },
);
