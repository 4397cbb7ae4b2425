import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Api } from '../../support/clients/api.ts';
import { ROOT } from '../../support/backends/backends.ts';
import { jobEnd } from '../../support/clients/batches.ts';
import { fixture } from '../../support/suites/fixture.ts';
import { startHelpers } from '../../support/programs/helper-program.ts';
import { textPdf } from '../../support/data/pdfs.ts';
import { platformTenant, workerSuite } from '../../support/suites/worker-suite.ts';
import { zipBytes } from '../../support/data/zip-bytes.ts';
import { configure, upload } from './pdf-suite.ts';

/** The examples of jobs in docs/use-the-api.md run with a worker and the product's own helpers. */
const { platform } = workerSuite();
const tenant = platformTenant(platform);
fixture(
  async () => {
    const helpers = await startHelpers({ CARREL_HELPERS_TOKEN: 'the-token' });
    await configure(tenant, helpers);
    return helpers;
  },
  async (helpers) => helpers[Symbol.asyncDispose](),
);

const page = readFileSync(join(ROOT, 'docs/use-the-api.md'), 'utf8');
const LIMIT_MS = 60_000;
/** A refused request ends the commands; not every machine has uuidgen. */
const PRELUDE = 'curl() { command curl --fail-with-body "$@"; }; uuidgen() { cat /proc/sys/kernel/random/uuid; };';

/** Runs the commands below a heading, all of which must succeed; gives what they print. */
async function run(
  heading: string,
  api: Api,
  { env = {}, files = {} }: { env?: Record<string, string>; files?: Record<string, Buffer> } = {},
) {
  const commands = page
    .split(`\n## ${heading}\n`)[1]
    ?.split('\n## ')[0]
    ?.match(/^```sh\n([\s\S]*?)^```$/m)?.[1];
  if (commands === undefined) throw new Error(`docs/use-the-api.md has no commands below ${heading}`);
  const folder = mkdtempSync(join(tmpdir(), 'carrel-docs-'));
  try {
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
    const all = { PATH: process.env['PATH'], API: tenant.apiUrl, TOKEN: api.token, ...env };
    const script = `${PRELUDE}\n${commands}`;
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env: all, timeout: LIMIT_MS }))
      .stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Everybody's jobs of a kind, each once it has ended, the oldest first. */
async function jobsOf(api: Api, kind: string) {
  const { data } = (await api.get('/jobs', { query: { kind, sort: 'created_at' } })).body;
  return Promise.all(data.map(({ id }: { id: string }) => jobEnd(api, id)));
}

test('the commands of "Follow a job" empty a trash and follow it to its end', async () => {
  const { api } = await tenant.user();
  const { body: file } = await api.upload('/files', { name: 'a.txt', file: Buffer.from('a') });
  await api.delete(`/files/${file.id}`);

  const printed = await run('Follow a job', api);

  expect(printed).toContain('"state":"succeeded"');
  expect(await jobsOf(api, 'empty_trash')).toMatchObject([{ state: 'succeeded', progress: { done: 1, total: 1 } }]);
});

test('the commands of "Change many at once" describe PDFs and try a deletion', async () => {
  const { api } = await tenant.user();
  const file = await upload(api, Buffer.from('%PDF-1.7 draft'), {}, 'draft.pdf');

  await run('Change many at once', api);

  expect(await jobsOf(api, 'batch')).toMatchObject([
    { state: 'succeeded', progress: { done: 1, failed: 0 }, result: { operation: 'set_metadata' } },
    { state: 'succeeded', progress: { done: 1, failed: 0 }, result: { operation: 'delete', dry_run: true, bytes: 14 } },
  ]);
  expect((await api.get(`/files/${file}/metadata`)).body.data).toMatchObject([{ key: 'course', value: 'History 1' }]);
});

test('the commands of "Import a zip archive" import one that is sent and one that is stored', async () => {
  const { api } = await tenant.user();
  const archive = zipBytes([{ name: 'week 1/plan.txt', content: 'Plan.' }]);

  await run('Import a zip archive', api, { files: { 'course.zip': archive } });

  const [sent, stored] = await jobsOf(api, 'import');
  expect([sent, stored]).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }]);
  expect(sent.result.files + stored.result.files + stored.progress.skipped).toBe(2);
  const paths = (await api.get('/files')).body.data.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/course.zip', '/week 1/plan.txt']));
});

test('the commands of "Run something regularly" make schedules, run one now and switch it off', async () => {
  const { admin } = tenant;

  const printed = await run('Run something regularly', admin);

  expect(printed).toContain('"next_run_at"');
  const { data } = (await admin.get('/schedules')).body;
  expect(data).toHaveLength(2);
  expect(data).toContainEqual(expect.objectContaining({ name: 'Drafts', kind: 'batch', active: true }));
  expect(data).toContainEqual(
    expect.objectContaining({ name: 'Old trash', kind: 'empty_trash', active: false, time_zone: 'Europe/Berlin' }),
  );
});

test('the commands of "Translate texts and PDFs" translate a text and a PDF, and make one smaller', async () => {
  const { api } = await tenant.user();
  const file = await upload(api, Buffer.from(await (await textPdf()).save()));

  const printed = await run('Translate texts and PDFs, and make PDFs smaller', api, { env: { FILE: file } });

  expect(printed).toContain('El profesor lee un libro.');
  expect(JSON.parse(/^\{[\s\S]*?^\}/m.exec(printed)?.[0] ?? '')).toMatchObject({ configured: true, available: true });
  expect(await jobsOf(api, 'optimize')).toMatchObject([{ state: 'succeeded', result: { file_id: file } }]);
  expect(await jobsOf(api, 'translate')).toMatchObject([{ state: 'succeeded', result: { version_number: 1 } }]);
});
