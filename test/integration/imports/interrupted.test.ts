import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { countBy, range, waitFor } from '../../support/wait.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { quotaOf } from '../content/tenant-state.ts';

const { platform, worker } = workerSuite();
const tenant = platformTenant(platform);
type Person = Awaited<ReturnType<typeof tenant.user>>;
const COUNT = 400;
const ARCHIVE = zipBytes(range(COUNT).map((n) => ({ name: `d${n % 7}/${n}.txt`, content: `content ${n}` })));

const requested = async ({ api }: Person, file = ARCHIVE, fields = {}): Promise<string> =>
  (await api.upload('/imports', { name: 'a.zip', file, fields })).body.id;
const jobOf = async ({ api }: Person, id: string) => (await api.get(`/jobs/${id}`)).body;
const countOf = async (sql: string, values: unknown[]): Promise<number> =>
  (await tenant.db.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${sql}`, values))[0]?.count ?? -1;
const filesOf = ({ user }: Person) => countOf('files f JOIN users u ON u.id = f.owner_id WHERE u.uuid = $1', [user.id]);
const storedOf = (job: string) =>
  countOf('task_items i JOIN tasks t ON t.id = i.task_id WHERE t.uuid = $1 AND i.content IS NOT NULL', [job]);
const isIdle = async () => (await countOf("carrel.work WHERE kind = 'tasks.import'", [])) === 0;
const leftOf = async (job: string) => [
  await countOf('partial_uploads WHERE uuid = $1', [job]),
  await countOf('storage_reservations WHERE id = $1', [job]),
];

test('an import whose worker is killed while it stores and while it makes files goes on, and makes each file once', async () => {
  const person = await tenant.user();
  const job = await requested(person);
  const points: readonly [string, () => Promise<boolean>][] = [
    // A content that has become a file is not counted among those that are stored.
    ['some contents', async () => (await storedOf(job)) >= 100 || (await filesOf(person)) > 0],
    ['more contents', async () => (await storedOf(job)) >= 300 || (await filesOf(person)) > 0],
    ['some files', async () => (await filesOf(person)) >= 100],
  ];
  for (const [what, isThere] of points) {
    await waitFor(what, isThere);
    await worker.end('SIGKILL');
    // In one look: what the worker had sent to Postgres may still be committed.
    const [made] = await tenant.db.query<{ done: number; files: number }>(
      `SELECT t.done, (SELECT count(*)::int FROM files f WHERE f.owner_id = t.user_id) AS files FROM tasks t WHERE t.uuid = $1`,
      [job],
    );
    expect(made?.files).toBe(made?.done);
    await worker.start();
  }
  await waitFor('the end of the import', async () => (await jobOf(person, job)).ended_at !== null);

  expect(await jobOf(person, job)).toMatchObject({
    state: 'succeeded',
    progress: { done: COUNT, total: COUNT, failed: 0, skipped: 0 },
    result: { files: COUNT, folders: 7 },
  });
  expect(await filesOf(person)).toBe(COUNT);
  expect(await quotaOf(tenant, person.user.id)).toBe(range(COUNT).reduce((sum, n) => sum + `content ${n}`.length, 0));
  expect(await leftOf(job)).toEqual([0, 0]);
});

test('a cancelled import leaves nothing before its files appear, and then those that appeared, which it counts', async () => {
  for (const stored of [0, 200, COUNT]) {
    const { person, job, canceled } = await waitFor('an import that is cancelled before its end', async () => {
      const person = await tenant.user();
      const job = await requested(person);
      await waitFor('so many contents', async () => (await storedOf(job)) >= stored || (await filesOf(person)) > 0);
      const canceled = await person.api.post(`/jobs/${job}/cancel`);
      return canceled.status !== 409 && { person, job, canceled };
    });
    const { done } = canceled.body.progress;

    expect(canceled).toMatchObject({ status: 202, body: { state: 'canceled', progress: { failed: 0, skipped: 0 } } });
    expect(await filesOf(person)).toBe(done);
    await waitFor('the worker to be idle', isIdle);
    expect([await filesOf(person), (await jobOf(person, job)).progress.done]).toEqual([done, done]);
    const itemsOf = (state: string) =>
      countOf('task_items i JOIN tasks t ON t.id = i.task_id WHERE t.uuid = $1 AND i.state = $2', [job, state]);
    expect([await itemsOf('succeeded'), await itemsOf('failed')]).toEqual([done, 0]);
    expect(await leftOf(job)).toEqual([0, 0]);
    expect((await person.api.post(`/jobs/${job}/retry`)).status).toBe(409);
  }
});

test('contents that fit the quota to the byte are imported, and one byte more is refused before anything is stored', async () => {
  const content = 'x'.repeat(9_000);
  const archive = zipBytes(range(10).map((n) => ({ name: `${n}.txt`, content: `${n}${content}` })));
  for (const [missing, state, code] of [
    [0, 'succeeded', null],
    [1, 'failed', 'quota_exceeded'],
  ] as const) {
    const person = await tenant.user({ storage_quota: archive.length + 90_010 - missing });
    const { body: file } = await person.api.upload('/files', { name: 'a.zip', file: archive });
    const { body } = await person.api.post('/imports', { file_id: file.id });
    const job = await waitFor('the end of the import', async () => {
      const now = await jobOf(person, body.id);
      return now.ended_at === null ? undefined : now;
    });

    expect([job.state, job.error?.code ?? null, await filesOf(person)]).toEqual([state, code, missing === 0 ? 11 : 1]);
  }
});

test('an import of somebody whose account may no longer do it fails, and leaves nothing', async () => {
  const person = await tenant.user();
  await worker.end('SIGKILL');
  const job = await requested(person);
  await tenant.db.query('UPDATE users SET is_active = false WHERE uuid = $1', [person.user.id]);
  await worker.start();
  await waitFor('the worker to be idle', isIdle);

  const [row] = await tenant.db.query('SELECT state, error_code FROM tasks WHERE uuid = $1', [job]);
  expect(row).toEqual({ state: 'failed', error_code: 'forbidden' });
  expect([await filesOf(person), ...(await leftOf(job))]).toEqual([0, 0, 0]);
});

/** The processes that read archives for the worker of this test. */
async function readersOf(): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    const parent = /\) \S (\d+)/.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isReader = async (pid: number) =>
    (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('reader.main');
  const grandchildren = [...parents].filter(([, parent]) => parents.get(parent) === process.pid).map(([pid]) => pid);
  const found = await Promise.all(grandchildren.map(async (pid) => ((await isReader(pid)) ? [pid] : [])));
  return found.flat();
}

/** It may have ended by itself. */
function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

test('an import whose reader is killed again and again goes on where it was, as long as it comes further', async () => {
  const person = await tenant.user();
  const job = await requested(person, zipBytes(range(1_200).map((n) => ({ name: `${n}.txt`, content: `content ${n}` }))));
  const ended = new Set<number>();
  for (const _ of range(3)) {
    const reader = await waitFor('another reader', async () => (await readersOf()).find((pid) => !ended.has(pid)));
    // After three attempts without progress, the archive would be refused.
    const before = await storedOf(job);
    await waitFor('it to come further', async () => (await storedOf(job)) > before);
    killed(reader);
    ended.add(reader);
  }
  await waitFor('the end of the import', async () => (await jobOf(person, job)).ended_at !== null);

  expect(await jobOf(person, job)).toMatchObject({ state: 'succeeded', error: null, result: { files: 1_200 } });
});

test('when an import’s folder is deleted while files appear, the rest fail, and each item says its outcome', async () => {
  const { person, job } = await waitFor('an import whose folder is deleted before its end', async () => {
    const person = await tenant.user();
    const { body: folder } = await person.api.post('/folders', { name: 'target' });
    const job = await requested(person, ARCHIVE, { folder_id: folder.id });
    await waitFor('some files', async () => (await filesOf(person)) >= 1);
    await person.api.delete(`/folders/${folder.id}`);
    await waitFor('the end of the import', async () => (await jobOf(person, job)).ended_at !== null);
    return (await jobOf(person, job)).progress.failed > 0 && { person, job };
  });

  const { state, progress, result } = await jobOf(person, job);
  const lines = (await person.api.get(`/jobs/${job}/items`, { headers: { accept: 'application/x-ndjson' } })).bytes
    .toString()
    .trim();
  const items = lines.split('\n').map((line) => JSON.parse(line));
  expect([state, progress.done, progress.failed]).toEqual(['succeeded', COUNT, COUNT - result.files]);
  expect(countBy(items, (item) => item.error?.code ?? item.state)).toEqual({
    succeeded: result.files,
    not_found: progress.failed,
  });
  expect(await filesOf(person)).toBe(result.files);
  expect(await leftOf(job)).toEqual([0, 0]);
});
