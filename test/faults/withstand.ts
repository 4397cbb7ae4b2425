import { startPlatform, type TestPlatform } from '../support/programs/worker-platform.ts';
import { startWorkerProcess } from '../support/programs/worker-process.ts';
import { freePort } from '../support/backends/ports.ts';
import { startReceiver } from '../support/fakes/receiver.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';
import { addWebhook } from '../support/clients/webhooks.ts';
import { Arrivals } from './arrivals.ts';
import { ChangeLog } from './change-log.ts';
import { Client } from './client.ts';
import { Injector } from './injector.ts';
import { Kept } from './kept.ts';
import { seeded } from './seeded.ts';
import { startServerProcess } from './server-process.ts';
import { inconsistencies, LATER_KINDS } from './consistency.ts';

export interface Withstood {
  /** A sentence for each thing that is not as it must be; see consistency.ts. */
  readonly faults: readonly string[];
  /** The number of times each fault was injected. */
  readonly injected: Readonly<Record<string, number>>;
  readonly kinds: number;
  readonly summary: string;
}

const CLIENTS = 24;
const SECRET = 'a secret';
/** Soon, and as often as an outage may want. */
export const RETRIES = range(2_000).fill(0.5).join(',');
const STANDSTILL_MS = 300_000;
const CHANGES_PER_FAULT = 40;
const PROGRESS_MS = 5_000;
/** Longer than a receiver's time-out, twice, and time for a backlog. */
export const QUIET_MS = { least: 90_000, perChange: 20 };

/**
 * `changes` changes by the REST API from several clients, while receiver, worker, server, Redis and Postgres suffer at moments
 * that `seed` names. Worker and server are the programs themselves. Resolves once everything is quiet, with all that was lost,
 * doubled or does not fit together.
 */
export async function withstand(options: {
  changes: number;
  seed: number;
  progress: (line: string) => void;
}): Promise<Withstood> {
  const random = seeded(options.seed);
  const platform = await startPlatform({ durable: true });
  const receiver = await startReceiver();
  const records: Kept[] = [];
  try {
    const tenant = await platform.tenant();
    const port = await freePort();
    const accounts = await Promise.all(range(CLIENTS).map(() => accountOf(tenant)));
    await addWebhook(tenant, { url: receiver.url, secret: SECRET });
    const worker = await Kept.start('worker', (log) =>
      startWorkerProcess(platform, { CARREL_WEBHOOK_RETRY_SECONDS: RETRIES }, log),
    );
    records.push(worker);
    const server = await Kept.start('server', (log) => startServerProcess(tenant, port, {}, log));
    records.push(server);

    const log = new ChangeLog(options.changes);
    const arrivals = new Arrivals(receiver, SECRET);
    const injector = new Injector({ platform, receiver, worker, server }, random.fork('faults'), options.progress);
    const clients = accounts.map(
      (account, at) =>
        new Client({
          name: `client-${at}`,
          url: `http://127.0.0.1:${port}/api/v1`,
          account,
          random: random.fork(`client ${at}`),
          log,
        }),
    );

    const started = performance.now();
    const progress = (): string =>
      `${log.ended} of ${log.wanted} changes, ${log.lost} with their answer lost, ${log.retries} tries again; ` +
      `${arrivals.taken.size} events arrived, ${arrivals.twice} twice`;
    const ticker = setInterval(() => {
      arrivals.look();
      options.progress(`${seconds(started)}: ${progress()}; broken now: ${injector.now}`);
    }, PROGRESS_MS);
    try {
      await Promise.all([
        Promise.all(clients.map((client) => client.work())),
        breakThings(injector, log, Math.max(injector.kinds, Math.floor(options.changes / CHANGES_PER_FAULT))),
      ]);
      await injector.settled();
      // Without this, all answers left from the receiver's last fault would meet the few remaining deliveries.
      receiver.answer({ status: 204 });
      await untilQuiet(platform, tenant, QUIET_MS.least + options.changes * QUIET_MS.perChange);
    } finally {
      log.abandon();
      clearInterval(ticker);
    }
    arrivals.look();
    const faults = [...records.flatMap(({ crashes }) => crashes), ...(await inconsistencies(tenant, log.acknowledged, arrivals))];
    const slowest = `the slowest answer took ${Math.round(log.slowestMs)} ms`;
    return {
      faults,
      injected: Object.fromEntries(injector.happened),
      kinds: injector.kinds,
      summary:
        `${seconds(started)}: ${progress()}; ${[...injector.happened.values()].reduce((sum, each) => sum + each)} ` +
        `faults; ${slowest}`,
    };
  } finally {
    await Promise.all(records.map((program) => program.stop()));
    await receiver.close();
    await platform.stop();
  }
}

/** An administrator: may change users, and has files. */
async function accountOf(tenant: TestTenant): Promise<{ email: string; password: string }> {
  const { user, password } = await tenant.user({ roles: ['admin'] });
  return { email: user.email, password };
}

async function breakThings(injector: Injector, log: ChangeLog, count: number): Promise<void> {
  for (const moment of injector.moments(count, log.wanted)) {
    await waitFor(`change ${moment} of ${log.wanted}`, () => log.ended >= moment || log.isAbandoned, STANDSTILL_MS);
    if (log.isAbandoned) return;
    injector.next();
  }
}

/** No delivery waits, and no work: what crashes left in the bucket is swept now, not tomorrow. */
export async function untilQuiet(platform: TestPlatform, { db }: TestTenant, limitMs: number): Promise<void> {
  const none = async (table: string, where: string): Promise<boolean> =>
    (await db.query(`SELECT FROM ${table} WHERE ${where} LIMIT 1`)).length === 0;
  await waitFor('the last delivery', () => none('carrel.deliveries', `state = 'pending'`), limitMs);
  await platform.pool.query(`UPDATE carrel.work SET due_at = now() WHERE kind = 'objects.sweep'`);
  // Deleted items stay in the trash for their time.
  await waitFor(
    'the last work',
    () => none('carrel.work', `kind NOT IN (${LATER_KINDS.map((kind) => `'${kind}'`).join()})`),
    limitMs,
  );
}

const seconds = (since: number): string => `${Math.round((performance.now() - since) / 1000)} s`;
