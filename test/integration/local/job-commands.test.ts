import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/backends.ts';
import { fixture } from '../../support/fixture.ts';
import { platformSuite, platformTenant } from '../../support/worker-suite.ts';
import { carrel } from '../operator/carrel.ts';

/** The commands as a person runs them beside an operator. No worker runs. */
const platform = platformSuite();
const tenant = platformTenant(platform);
const shards = fixture(
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shards-'));
    mkdirSync(join(folder, 'one'));
    writeFileSync(join(folder, 'one', 'url'), platform.stores.postgres.operator);
    return { folder };
  },
  async ({ folder }) => rmSync(folder, { recursive: true }),
);
const run = (...args: string[]) =>
  carrel(args, { CARREL_SHARDS_DIR: shards.folder, CARREL_PLATFORM_KEYS: platform.platformKeys, CARREL_REDIS_ADMIN_URL: '' });
const roleOf = (): string => `tenant_${tenant.slug}`;

async function addJob(more: { due?: string; error?: string | null; leased?: string | null } = {}): Promise<string> {
  const { due = 'infinity', error = 'no such kind', leased = null } = more;
  const [row] = await platform.pool.query<{ id: string }>(
    `INSERT INTO carrel.work (tenant, kind, payload, due_at, last_error, leased_until) VALUES ($1, 'test.kind', '{"a":1}', $2, $3, $4) RETURNING id::text`,
    [roleOf(), due, error, leased],
  );
  return row?.id ?? '';
}

/** The commands of the runbook, for this tenant's job. */
const runbook = (id: string): string[][] =>
  [...readFileSync(join(ROOT, 'docs/runbooks/CarrelDeadLetters.md'), 'utf8').matchAll(/cmd\/carrel\/main\.js (.+)/g)].map(([, args = '']) =>
    args.replace('4711', id).replace('biology', tenant.slug).split(' '),
  );

test('dead letters are listed, shown, and due again or deleted by the lines of the runbook', async () => {
  const [again, gone, fine] = [
    await addJob(),
    await addJob({ error: 'a line\u001b[31m\nand another' }),
    await addJob({ due: 'now', error: null }),
  ];

  const listed = await run('jobs', 'list');
  const lines = (await run('jobs', 'list', '--tenant', tenant.slug, '--json')).stdout.trim().split('\n');
  const [list = [], show = [], retry = []] = runbook(again);
  const dead = await run(...list);
  const shown = await run(...show);
  const retried = await run(...retry);
  const canceled = await run(...(runbook(gone)[3] ?? []));
  const missing = await run('jobs', 'retry', gone, '--tenant', tenant.slug);

  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toMatch(new RegExp(`${tenant.slug} +${again} +test.kind +dead +0 +- +no such kind\n`));
  expect(listed.stdout).toContain('a line [31m and another\n');
  expect(listed.stdout).toMatch(/\n2 jobs failed or wait for another attempt\.\n$/);
  expect(new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id))).toEqual(new Set([again, gone]));
  expect(dead.stdout).toMatch(/\n2 jobs are dead\.\n$/);
  expect(JSON.parse(shown.stdout)).toMatchObject({ kind: 'test.kind', payload: { a: 1 }, last_error: 'no such kind' });
  expect(retried).toMatchObject({
    code: 0,
    stdout: `${tenant.slug}: job ${again} (test.kind) is due now; a worker takes it within seconds.\n`,
  });
  expect(canceled).toMatchObject({ code: 0, stdout: `${tenant.slug}: job ${gone} (test.kind) is deleted and will not be done.\n` });
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining(`carrel: ${tenant.slug} has no job ${gone}.`) });
  const left = await platform.pool.query(
    'SELECT id::text, last_error AS error, due_at <= now() AS due FROM carrel.work WHERE kind = $1 ORDER BY id',
    ['test.kind'],
  );
  expect(left).toEqual([
    { id: again, error: null, due: true },
    { id: fine, error: null, due: true },
  ]);
});

test('a job that a worker is at is left alone; one of a person is ended, once', async () => {
  const running = await addJob({ due: 'now', leased: 'infinity' });
  const { body: task } = await tenant.admin.delete('/trash');

  const busy = await run('jobs', 'cancel', running, '--tenant', tenant.slug);
  const all = await run('jobs', 'list', '--tenant', tenant.slug, '--state', 'all');
  const canceled = await run('jobs', 'cancel', task.id, '--tenant', tenant.slug);
  const again = await run('jobs', 'cancel', task.id, '--tenant', tenant.slug);
  const unknown = await run('jobs', 'show', '1', '--tenant', 'nobody');

  expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining(`a worker is at job ${running}`) });
  expect(all.stdout).toMatch(new RegExp(`${task.id} +empty_trash +queued`));
  expect(canceled).toMatchObject({ code: 0, stdout: expect.stringContaining('is canceled; 0 of 0 are done and stay done.\n') });
  expect(again).toMatchObject({ code: 1, stderr: `carrel: job ${task.id} has ended\n` });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no tenant with the slug nobody') });
  expect((await tenant.admin.get(`/jobs/${task.id}`)).body.state).toBe('canceled');
});

test('webhooks are listed, and what did not arrive in a time is made due again', async () => {
  const { body: webhook } = await tenant.admin.post('/webhooks', { url: 'https://receiver.example.org/hook', events: ['file.created'] });
  await platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload) SELECT $1, gen_random_uuid(), 'file.created', '{}' FROM generate_series(1, 12) RETURNING id
     )
     INSERT INTO carrel.deliveries (tenant, event_id, endpoint, state, due_at, ended_at) SELECT $1, id, $2, 'failed', NULL, now() FROM event`,
    [roleOf(), webhook.id],
  );
  const since = new Date(Date.now() - 60_000).toISOString();

  const replayed = await run('webhooks', 'replay', webhook.id, '--tenant', tenant.slug, '--since', since);
  const again = await run('webhooks', 'replay', webhook.id, '--tenant', tenant.slug, '--since', since);
  const listed = await run('webhooks', 'list', '--tenant', tenant.slug);
  await tenant.admin.patch(`/webhooks/${webhook.id}`, { active: false });
  const inactive = await run('webhooks', 'replay', webhook.id, '--tenant', tenant.slug, '--since', since);

  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(/: 12 of 12 deliveries of .* were made due again\.\n$/) });
  expect(again.stdout).toContain(': 0 of 0 deliveries');
  expect(listed.stdout).toMatch(new RegExp(`${webhook.id} +https://receiver.example.org/hook +true +- +- +12\n`));
  expect(listed.stdout).toMatch(/has 1 webhook; 0 of them failing or not active\.\n$/);
  expect(inactive).toMatchObject({ code: 1, stderr: expect.stringContaining('is not active') });
  expect((await run('webhooks', 'replay', webhook.id, '--tenant', tenant.slug, '--since', 'monday')).stderr).toContain('--since is monday');
});
