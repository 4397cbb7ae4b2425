import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { programEnvironment, ROOT } from '../../support/backends/backends.ts';
import { waitFor } from '../../support/wait.ts';
import { webhookSuite } from '../../support/suites/worker-suite.ts';
import type { Outcome } from '../operator/carrel.ts';
import { besideOperator, operatorSettings } from './beside-operator.ts';

const { platform, tenant, receiver, worker } = webhookSuite({ CARREL_WEBHOOK_TIMEOUT_SECONDS: '60' });
const settings = operatorSettings(platform);
const run = besideOperator(settings);
let webhook: string;
const roleOf = (): string => `tenant_${tenant.slug}`;
const ofTenant = (): string[] => ['--tenant', tenant.slug];

/** A webhook with 12 deliveries of the last minutes that have failed. */
beforeEach(async () => {
  webhook = (await tenant.admin.post('/webhooks', { url: receiver.url, events: ['file.created'] })).body.id;
  await platform.pool.query(
    `WITH event AS (
       INSERT INTO carrel.events (tenant, uuid, event, payload)
       SELECT $1, gen_random_uuid(), 'file.created', '{"type":"file.created"}'
       FROM generate_series(1, 12) RETURNING id
     )
     INSERT INTO carrel.deliveries (tenant, event_id, endpoint, state, due_at, ended_at) SELECT $1, id, $2, 'failed', NULL, now()
     FROM event`,
    [roleOf(), webhook],
  );
});

const since = (): string[] => ['--since', new Date(Date.now() - 60_000).toISOString()];
const jobIn = (stdout: string): string => / job ([0-9a-f-]{36}) /.exec(stdout)?.[1] ?? '';
// oxlint-disable-next-line typescript/no-explicit-any -- what the server sent
const jobOf = async (id: string): Promise<any> => (await tenant.admin.get(`/jobs/${id}`)).body;

test('deliveries that failed in a period are repeated by a job of Carrel’s own, which the command follows', async () => {
  const replayed = await run('webhooks', 'replay', webhook, ...ofTenant(), ...since());
  const again = await run('webhooks', 'replay', webhook, ...ofTenant(), ...since(), '--json');
  await waitFor('all deliveries', () => receiver.received.length === 12);

  const job = jobIn(replayed.stdout);
  expect(replayed).toMatchObject({ code: 0, stderr: '' });
  expect(replayed.stdout).toMatch(
    /: job [0-9a-f-]{36} replays deliveries created from .* It continues when this command ends\.\n/,
  );
  expect(replayed.stdout).toMatch(/: 12 of 12 deliveries from .* were made due again\.\n$/);
  expect(await jobOf(job)).toMatchObject({
    kind: 'replay',
    state: 'succeeded',
    progress: { done: 12 },
    result: { webhook_id: webhook },
  });
  const { body: entries } = await tenant.admin.get(`/audit?target_id=${job}`);
  expect(entries.data).toMatchObject([{ action: 'job.run', actor: { system: true }, target: { type: 'job', name: 'replay' } }]);
  expect(JSON.parse(again.stdout)).toMatchObject({ tenant: tenant.slug, state: 'succeeded', done: 0, total: 0, error: null });
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(12);
});

test('webhooks are listed with what is due of each', async () => {
  receiver.answer('stall');
  await run('webhooks', 'replay', webhook, ...ofTenant(), ...since());

  const listed = await run('webhooks', 'list', ...ofTenant());
  const json = await run('webhooks', 'list', ...ofTenant(), '--json');

  expect(listed.stdout).toMatch(new RegExp(`${webhook} +${receiver.url} +true +- +- +12\n`));
  expect(listed.stdout).toMatch(/has 1 webhook; 0 failing or not active\.\n$/);
  expect(JSON.parse(json.stdout)).toMatchObject({ id: webhook, active: true, due: 12 });
});

test('a range that cannot be replayed is refused with what to do', async () => {
  const replay = (...args: string[]): Promise<Outcome> => run('webhooks', 'replay', ...args, ...ofTenant());
  const day = 24 * 60 * 60 * 1_000;
  const long = new Date(Date.now() - 400 * day).toISOString();

  const unknown = await replay(
    webhook.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    ...since(),
  );
  const written = await replay(webhook, '--since', 'monday');
  const early = await replay(webhook, '--since', long);
  const future = await replay(webhook, '--since', new Date(Date.now() + day).toISOString());
  const status = await replay(webhook, ...since(), '--status', 'lost');
  await tenant.admin.patch(`/webhooks/${webhook}`, { active: false });
  const inactive = await replay(webhook, ...since());

  expect([unknown, written, early, future, status, inactive].map(({ code, stdout }) => [code, stdout])).toEqual(
    Array.from({ length: 6 }, () => [1, '']),
  );
  expect(unknown.stderr).toMatch(/has no webhook .* \(carrel webhooks list --tenant .*\)\n$/);
  expect(written.stderr).toContain('--since is monday; write it as 2026-01-31T12:00:00Z');
  expect(early.stderr).toMatch(/--since must be within the last \d+ days/);
  expect(future.stderr).toContain('--since must be before --until, and before now');
  expect(status.stderr).toContain('--status must be one of failed, canceled, delivered');
  expect(inactive.stderr).toContain('is not active');
});

test('Ctrl-C only stops following: the job goes on with a worker, and the last line says how to follow it', async () => {
  await worker.end('SIGTERM');
  const program = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'cmd/carrel/main.ts'),
      'webhooks',
      'replay',
      webhook,
      ...ofTenant(),
      ...since(),
    ],
    { env: { ...programEnvironment(), ...settings }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let stdout = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const job = await waitFor('the job', () => jobIn(stdout) || undefined);

  program.kill('SIGINT');
  const [code] = await once(program, 'close');
  const before = await jobOf(job);
  await worker.start();
  const after = await waitFor('the end of the job', async () => {
    const found = await jobOf(job);
    return found.ended_at !== null && found;
  });

  expect(code).toBe(130);
  expect(stdout.trimEnd().split('\n').slice(1)).toEqual([
    expect.stringMatching(/: the job continues; 0 of 0 deliveries from .* were made due again so far\.$/),
    `${tenant.slug}: follow it with carrel jobs show ${job} --tenant ${tenant.slug}, end it with carrel jobs ` +
      `cancel ${job} --tenant ${tenant.slug}`,
  ]);
  expect(before).toMatchObject({ state: 'queued' });
  expect(after).toMatchObject({ state: 'succeeded', progress: { done: 12 } });
});
