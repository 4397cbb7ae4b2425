import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { job } from '../../../pkg/api/job.ts';
import { requesterOf } from '../../../pkg/content/model/access/requester.ts';
import { Folders } from '../../../pkg/content/folders/folders.service.ts';
import type { Problem } from '../../../pkg/api/problem.ts';
import { type JobContext, processor, type WorkerServices } from '../../../pkg/events/processor.ts';
import { silentLogger } from '../../../pkg/runtime/log.ts';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { insertJob } from '../../../pkg/store/postgres/job-store.ts';
import { connectRedis, type Redis, WAKE_CHANNEL } from '../../../pkg/store/redis/redis.ts';
import { TaggedCache } from '../../../pkg/store/redis/tagged-cache.ts';
import { atEnd } from '../../support/suites/fixture.ts';
import type { TestTenant } from '../../support/programs/server.ts';
import { waitFor } from '../../support/wait.ts';
import { platformSuite } from '../../support/suites/worker-suite.ts';
import { workerInProcess } from '../../support/programs/worker-in-process.ts';

const platform = platformSuite();
const STEP = job({ kind: 'test.step', queue: 'tests', payload: z.object({}) });
const NEXT = job({ kind: 'test.next', queue: 'tests', payload: z.object({ number: z.number() }) });

type Step = (services: WorkerServices, context: JobContext) => Promise<void>;

let tenant: TestTenant;
let redis: Redis;
/** The work of STEP. */
let step: Step;
let failures: unknown[] = [];
let close: (() => Promise<void>) | undefined;
const numbers: number[] = [];
const woken: string[] = [];

beforeAll(async () => {
  redis = connectRedis({ url: platform.stores.redis.adminUrl, prefix: '', log: silentLogger });
  await redis.subscribe(WAKE_CHANNEL, (message) => woken.push(message));
  const tried = async (services: WorkerServices, context: JobContext): Promise<void> => {
    await step(services, context).catch((error: unknown) => failures.push(error));
  };
  const worker = workerInProcess(platform, {
    queues: [{ name: 'tests', perTenant: 2, concurrency: 2 }],
    processors: [
      processor({ job: STEP, create: (services) => (context) => tried(services, context) }),
      processor({
        job: NEXT,
        create:
          () =>
          async (_context, { number }) =>
            void numbers.push(number),
      }),
    ],
  });
  close = async () => {
    await worker.close();
    await redis.close();
  };
});
atEnd(() => close?.());
beforeEach(async () => {
  tenant = await platform.tenant();
  failures = [];
});

/** Runs it as a job of the tenant, once, and gives the errors that it threw. */
async function runStep(work: Step): Promise<unknown[]> {
  step = work;
  await tenant.db.transaction((tx) => insertJob(tx, { kind: STEP.kind, queue: STEP.queue, payload: {} }));
  await waitFor('the end of the step', async () => (await jobsOf(STEP.kind)).length === 0);
  return failures;
}

const jobsOf = (kind: string) => tenant.db.query('SELECT payload, due_at AS due FROM carrel.work WHERE kind = $1', [kind]);
const entry = { key: 'value', tags: ['one'] };
const cached = async (): Promise<string | undefined> => (await cacheOfServer().lookup(entry)).value;
const cacheOfServer = (): TaggedCache => new TaggedCache({ redis: tenant.redis, random: systemRandom, log: silentLogger });
const subscribe = (): Promise<unknown> =>
  tenant.admin
    .post('/webhooks', { url: 'https://receiver.example', events: ['user.created'] })
    .then(({ status }) => expect(status).toBe(201));
const events = () => tenant.db.query('SELECT e.event FROM carrel.events e JOIN carrel.deliveries d ON d.event_id = e.id');

/** Whatever an endpoint's transaction can do. */
const change: Step = ({ events: outbox, jobs }, { transaction, cache }) =>
  transaction(async (tx) => {
    const user = await tx.users.insert({ uuid: systemRandom.uuid(), email: 'step@example.org', username: 'step' });
    await outbox.emit(tx, 'user.created', {
      id: user.uuid,
      email: user.email,
      username: user.username,
      display_name: null,
      contact_email: null,
      roles: ['member'],
      is_active: true,
      created_at: user.createdAt.toISOString(),
    });
    await jobs.request(tx, NEXT, { number: 1 });
    cache.invalidate(tx, 'one');
  });

test("a step's rows, events, jobs and invalidated caches take effect at its commit, which wakes the workers", async () => {
  await subscribe();
  await (await cacheOfServer().lookup(entry)).put('former', 60);
  expect(await cached()).toBe('former');
  woken.length = 0;

  expect(await runStep(change)).toEqual([]);

  expect(await tenant.db.tables.users.count({ username: 'step' })).toBe(1);
  expect(await events()).toEqual([{ event: 'user.created' }]);
  await waitFor('the requested job', () => numbers.includes(1));
  await waitFor('the wake-ups', () => ['jobs', 'deliveries'].every((wake) => woken.includes(wake)));
  expect(await cached()).toBeUndefined();
  expect(await jobsOf('cache.clear')).toEqual([]);
});

test('a step that throws after all of that leaves nothing, and cached values stay', async () => {
  await subscribe();
  await (await cacheOfServer().lookup(entry)).put('former', 60);
  numbers.length = 0;

  const thrown = await runStep((services, context) =>
    context.transaction(async (tx) => {
      await change(services, { ...context, transaction: (fn) => fn(tx) });
      throw new Error('refused');
    }),
  );

  expect(thrown).toEqual([new Error('refused')]);
  expect(await tenant.db.tables.users.count({ username: 'step' })).toBe(0);
  expect(await events()).toEqual([]);
  expect(await jobsOf(NEXT.kind)).toEqual([]);
  expect(numbers).toEqual([]);
  expect(await cached()).toBe('former');
});

test("a job's database is the tenant's own, in a transaction or without one, and prepares no statement", async () => {
  const seen: unknown[] = [];
  const role = `tenant_${tenant.slug}`;

  const thrown = await runStep(async (_services, { db }) => {
    const who = 'SELECT current_user AS role';
    seen.push(await db.query(who), await db.prepared('who', who), await db.tables.prepared('who', who));
    seen.push(await db.transaction((tx) => tx.prepared('who', who)));
    seen.push(await db.transaction((tx) => tx.query('SELECT name FROM pg_prepared_statements')));
    await db.tables.tags.list({});
    const added = { uuid: systemRandom.uuid(), email: 'own@example.org', username: 'own' };
    seen.push((await db.tables.users.insert(added)).username, await db.tables.users.count({ username: 'own' }));
  });

  expect(thrown).toEqual([]);
  expect(seen).toEqual([[{ role }], [{ role }], [{ role }], [{ role }], [], 'own', 1]);
  expect(await tenant.db.tables.users.count({ username: 'own' })).toBe(1);
});

test('a job that is scheduled unless it is present is there once, for each payload', async () => {
  const dueAt = new Date('2200-01-01T00:00:00Z');

  await runStep(async ({ jobs }, { db, transaction }) => {
    const options = { unlessPresent: true };
    await jobs.schedule(db, NEXT, { number: 7 }, dueAt, options);
    await transaction((tx) => jobs.schedule(tx, NEXT, { number: 7 }, new Date(dueAt.getTime() + 1), options));
    await jobs.schedule(db, NEXT, { number: 8 }, dueAt, options);
  });

  expect(await jobsOf(NEXT.kind)).toEqual([
    { payload: { number: 7 }, due: dueAt },
    { payload: { number: 8 }, due: dueAt },
  ]);
});

test('services of endpoints run in a step with the requester’s rights, and their refusals leave nothing', async () => {
  const [{ api: mine, user: me }, { api: theirs }] = [await tenant.user(), await tenant.user()];
  const [own, other] = [
    (await mine.post('/folders', { name: 'own' })).body.id,
    (await theirs.post('/folders', { name: 'other' })).body.id,
  ];
  const [row] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [me.id]);
  const before = await mine.get('/folders');
  const ended: unknown[] = [];

  const thrown = await runStep(async (services, { transaction, cache, db }) =>
    transaction(async (tx) => {
      const { actor } = await requesterOf(
        tx,
        { userId: row?.id ?? null, scheduleId: null },
        'write:folders',
        services.clock.now(),
      );
      const folders = new Folders({ ...services, cache, db: db.within(tx) });
      for (const input of [
        { name: 'new' },
        { name: 'own' },
        { name: 'new', parent_id: other },
        { name: 'below', parent_id: own },
      ]) {
        const item = folders.create(actor, { on_conflict: 'fail', ...input });
        ended.push(await item.then(({ folder }) => folder.name).catch((error: unknown) => (error as Problem).code));
      }
    }),
  );

  expect(thrown).toEqual([]);
  expect(ended).toEqual(['new', 'name_conflict', 'not_found', 'below']);
  expect(before.body.data.map(({ name }: { name: string }) => name)).toEqual(['own']);
  const after = await mine.get('/folders?sort=name');
  expect(after.body.data.map(({ name }: { name: string }) => name)).toEqual(['below', 'new', 'own']);
});

test('nothing of a step is left that throws after services have changed something in it', async () => {
  const { api, user } = await tenant.user();
  const [row] = await tenant.db.query<{ id: number }>('SELECT id FROM users WHERE uuid = $1', [user.id]);

  const thrown = await runStep(async (services, { transaction, cache, db }) =>
    transaction(async (tx) => {
      const { actor } = await requesterOf(
        tx,
        { userId: row?.id ?? null, scheduleId: null },
        'write:folders',
        services.clock.now(),
      );
      await new Folders({ ...services, cache, db: db.within(tx) }).create(actor, { name: 'new', on_conflict: 'fail' });
      throw new Error('refused');
    }),
  );

  expect(thrown).toEqual([new Error('refused')]);
  expect((await api.get('/folders')).body.data).toEqual([]);
});

test('a service does not run within a transaction that would invalidate nothing at its commit', async () => {
  const thrown = await runStep(async (_services, { cache, db }) =>
    db.transaction((tx) => cache.transaction(db.within(tx), async (inner) => cache.invalidate(inner, 'one'))),
  );

  expect(thrown).toEqual([new TypeError('a transaction within another needs that to be one of TaggedCache.transaction()')]);
});
