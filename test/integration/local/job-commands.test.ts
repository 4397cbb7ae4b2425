import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/backends/backends.ts';
import { inParallel } from '../../support/wait.ts';
import { platformSuite, platformTenant } from '../../support/suites/worker-suite.ts';
import { carrel } from '../operator/carrel.ts';
import { besideOperator, operatorSettings } from './beside-operator.ts';

/** The commands as a person runs them beside an operator. No worker runs. */
const platform = platformSuite();
const tenant = platformTenant(platform);
const run = besideOperator(operatorSettings(platform));
const roleOf = (): string => `tenant_${tenant.slug}`;

async function addJob(more: { due?: string; error?: string | null; leased?: string | null } = {}): Promise<string> {
  const { due = 'infinity', error = 'no such kind', leased = null } = more;
  const [row] = await platform.pool.query<{ id: string }>(
    `INSERT INTO carrel.work (tenant, kind, payload, due_at, last_error, leased_until)
     VALUES ($1, 'test.kind', '{"a":1}', $2, $3, $4) RETURNING id::text`,
    [roleOf(), due, error, leased],
  );
  return row?.id ?? '';
}

/** The commands of the runbook, for this tenant's job. */
const runbook = (id: string): string[][] =>
  [...readFileSync(join(ROOT, 'docs/runbooks/CarrelDeadLetters.md'), 'utf8').matchAll(/cmd\/carrel\/main\.js (.+)/g)].map(
    ([, args = '']) => args.replace('4711', id).replace('biology', tenant.slug).split(' '),
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
  expect(dead.stdout).toMatch(/\n2 jobs in the state dead\.\n$/);
  expect(JSON.parse(shown.stdout)).toMatchObject({ kind: 'test.kind', payload: { a: 1 }, last_error: 'no such kind' });
  expect(retried).toMatchObject({
    code: 0,
    stdout: `${tenant.slug}: job ${again} (test.kind) is due now; a worker takes it within seconds.\n`,
  });
  expect(canceled).toMatchObject({
    code: 0,
    stdout: `${tenant.slug}: job ${gone} (test.kind) is deleted and will not be done.\n`,
  });
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

  expect(busy).toMatchObject({ code: 1, stderr: expect.stringContaining(`a worker is processing job ${running}`) });
  expect(all.stdout).toMatch(new RegExp(`${task.id} +empty_trash +queued`));
  expect(canceled).toMatchObject({ code: 0, stdout: expect.stringContaining('is canceled; 0 of 0 are done and stay done.\n') });
  expect(again).toMatchObject({ code: 1, stderr: `carrel: job ${task.id} has ended: it is canceled\n` });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no tenant with the slug nobody') });
  expect((await tenant.admin.get(`/jobs/${task.id}`)).body.state).toBe('canceled');
});

/** A job of a person of which a worker has nothing but a dead letter; gives the latter's number. */
async function deadLetterOf(task: string): Promise<string> {
  const [row] = await platform.pool.query<{ id: string }>(
    `UPDATE carrel.work SET due_at = 'infinity', last_error = 'no such kind'
     WHERE tenant = $1 AND kind <> 'tasks.expire' AND payload ->> 'task' = $2
     RETURNING id::text`,
    [roleOf(), task],
  );
  return row?.id ?? '';
}

/** Returns whether a worker would take the job's row, and the job's entries in the audit log, the newest first. */
async function traceOf(task: string): Promise<{ due: boolean; actions: unknown[] }> {
  const [row] = await platform.pool.query<{ due: boolean }>(
    `SELECT due_at <= now() AND last_error IS NULL AS due FROM carrel.work
     WHERE tenant = $1 AND kind <> 'tasks.expire' AND payload ->> 'task' = $2`,
    [roleOf(), task],
  );
  const { body } = await tenant.admin.get(`/audit?target_id=${task}`);
  const actions = body.data.map(({ action, actor }: { action: string; actor: { system?: true } }) => [
    action,
    actor.system ?? false,
  ]);
  return { due: row?.due ?? false, actions };
}

test.each(['its id', 'the number of the dead letter'])(
  'a dead letter of a person’s job is due again by %s, and the audit log shows it',
  async (by) => {
    const { api } = await tenant.user();
    const { body: task } = await api.delete('/trash');
    const number = await deadLetterOf(task.id);
    const id = by === 'its id' ? task.id : number;

    const shown = await run('jobs', 'show', task.id, '--tenant', tenant.slug);
    const retried = await run('jobs', 'retry', id, '--tenant', tenant.slug);

    expect(JSON.parse(shown.stdout)).toMatchObject({
      kind: 'empty_trash',
      state: 'queued',
      worker: [{ state: 'dead', last_error: 'no such kind' }],
    });
    expect(retried).toMatchObject({ code: 0, stderr: '' });
    expect(retried.stdout).toMatch(
      new RegExp(`^${tenant.slug}: job ${id} \\(.*empty_trash\\) is due now; a worker takes it within seconds\\.\n$`),
    );
    expect(await traceOf(task.id)).toEqual({
      due: true,
      actions: [
        ['job.retry', true],
        ['job.run', false],
      ],
    });
  },
);

test('a dead letter of a person’s job is canceled with the job, and a worker takes what is to be undone', async () => {
  const { api } = await tenant.user();
  const { body: task } = await api.delete('/trash');
  const number = await deadLetterOf(task.id);

  const canceled = await run('jobs', 'cancel', number, '--tenant', tenant.slug, '--json');

  expect(JSON.parse(canceled.stdout)).toEqual({ tenant: tenant.slug, id: task.id, kind: 'empty_trash', state: 'canceled' });
  expect((await api.get(`/jobs/${task.id}`)).body.state).toBe('canceled');
  expect(await traceOf(task.id)).toEqual({
    due: true,
    actions: [
      ['job.cancel', true],
      ['job.run', false],
    ],
  });
});

/** A batch of one file that has ended; the file's item failed. */
async function failedBatch(): Promise<{ id: string; api: Awaited<ReturnType<typeof tenant.user>>['api'] }> {
  const { api } = await tenant.user();
  const file = (await api.upload('/files', { name: 'a.txt', file: Buffer.from('x') })).body;
  const { body: task } = await api.post('/batch', { operation: 'delete', items: [{ type: 'file', id: file.id }] });
  await tenant.db.query(
    `WITH task AS (
       UPDATE tasks SET state = 'succeeded', started_at = now(), ended_at = now(), is_planned = true, total = 1,
         done = 1, failed = 1
       WHERE uuid = $1 RETURNING id
     )
     UPDATE task_items i SET state = 'failed', error_code = 'conflict', error_message = 'Somebody was at it.' FROM task
     WHERE i.task_id = task.id`,
    [task.id],
  );
  return { id: task.id, api };
}

test('the failed items of a person’s ended job become one job of that person', async () => {
  const { id, api } = await failedBatch();
  const { body: none } = await api.delete('/trash');
  await run('jobs', 'cancel', none.id, '--tenant', tenant.slug);

  const shown = await run('jobs', 'show', id, '--tenant', tenant.slug, '--json');
  const retried = await run('jobs', 'retry', id, '--tenant', tenant.slug, '--json');
  const again = await run('jobs', 'retry', id, '--tenant', tenant.slug);
  const nothing = await run('jobs', 'retry', none.id, '--tenant', tenant.slug);

  expect(JSON.parse(shown.stdout)).toMatchObject({
    failed_items: [{ code: 'conflict', message: 'Somebody was at it.', count: 1 }],
  });
  const { retried_as: anew, ...rest } = JSON.parse(retried.stdout) as { retried_as: string };
  expect(rest).toEqual({ tenant: tenant.slug, id, kind: 'batch', state: 'succeeded' });
  expect((await api.get(`/jobs/${anew}`)).body).toMatchObject({
    kind: 'batch',
    state: 'queued',
    retry_of: id,
    progress: { total: 1 },
  });
  expect(await traceOf(anew)).toEqual({ due: true, actions: [['job.run', true]] });
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('another job is already retrying its failed items') });
  expect(nothing.stderr).toBe(`carrel: job ${none.id} (empty_trash) has ended: it is canceled, and none of its items failed\n`);
});

test('a wrong name is refused with the names that exist', async () => {
  for (const namespace of ['physics', 'chemistry'])
    await platform.registryOn(platform.pool).claim({
      slug: `${namespace}-lab`,
      owner: { namespace, namespaceUid: namespace, name: 'lab' },
      hosts: [],
      shards: ['one'],
    });

  const name = await run('jobs', 'list', '--tenant', 'lab');
  const withoutSchema = await run('jobs', 'list', '--tenant', 'physics-lab');
  const state = await run('jobs', 'list', '--state', 'broken');
  const id = await run('jobs', 'show', 'four', '--tenant', tenant.slug);
  const command = await run('jobs', 'retry', '4711');

  expect(name).toMatchObject({
    code: 1,
    stderr:
      'carrel: there is no tenant with the slug lab, and no data of one. ' +
      'The slug of Tenant chemistry/lab is chemistry-lab. The slug of Tenant physics/lab is physics-lab\n',
  });
  expect(withoutSchema).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('carrel: physics-lab has no schema, or one of an older release'),
  });
  expect(state).toMatchObject({ code: 1, stderr: expect.stringMatching(/^carrel: --state must be one of dead, .*, all\n$/) });
  expect(id).toMatchObject({ code: 1, stderr: expect.stringContaining('four is not the id of a job') });
  expect(command).toMatchObject({ code: 1, stderr: expect.stringContaining("required option '--tenant <slug>' not specified") });
});

test('jobs of a suspended tenant are listed and changed like those of any other', async () => {
  const id = await addJob();
  // The operator does this to a suspended tenant's role.
  await platform.pool.query(`ALTER ROLE "${roleOf()}" CONNECTION LIMIT 0`);

  const listed = await run('jobs', 'list', '--tenant', tenant.slug, '--state', 'dead');
  const canceled = await run('jobs', 'cancel', id, '--tenant', tenant.slug);
  await platform.pool.query(`ALTER ROLE "${roleOf()}" CONNECTION LIMIT -1`);

  expect(listed.stdout).toMatch(new RegExp(`${id} +test.kind +dead`));
  expect(canceled).toMatchObject({ code: 0, stderr: '' });
});

test('the help of each command says what it takes, where it runs, and when it fails', async () => {
  const commands = ['jobs list', 'jobs show', 'jobs retry', 'jobs cancel', 'webhooks list', 'webhooks replay'];
  await inParallel(commands, 3, async (command) => {
    const { code, stdout, stderr } = await carrel([...command.split(' '), '--help']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: carrel ${command} \\[options\\]`));
    for (const part of [/--tenant <slug> /, /--json /, /Run it where the operator runs/, /Exit code 1:/])
      expect(stdout).toMatch(part);
  });
});
