import { syncHelpers } from '../../pkg/helper-services/managed-helpers.ts';
import { everyYear } from '../support/data/crons.ts';
import { startHelper } from '../support/fakes/helpers/helper.ts';
import { freePort } from '../support/backends/ports.ts';
import type { Api } from '../support/clients/api.ts';
import type { Lms } from '../../pkg/local/demo/lms/lms.ts';
import { registeredLms } from '../support/lms/registration.ts';
import { type Receiver, startReceiver } from '../support/fakes/receiver.ts';
import { rosterCourse } from '../support/clients/rosters.ts';
import type { TestTenant } from '../support/programs/server.ts';
import { range, waitFor } from '../support/wait.ts';
import { addWebhook } from '../support/clients/webhooks.ts';
import { startPlatform, type TestPlatform } from '../support/programs/worker-platform.ts';
import { startWorkerProcess } from '../support/programs/worker-process.ts';
import { Arrivals } from './arrivals.ts';
import { ChangeLog } from './change-log.ts';
import { Client } from './client.ts';
import { inconsistencies } from './consistency.ts';
import { startHelpersProcess } from './helpers-process.ts';
import { Injector } from './injector.ts';
import { JobClient, JobLog } from './job-client.ts';
import { SCHEDULED_KINDS } from './job-kinds.ts';
import { Kept } from './kept.ts';
import type { Account } from './patient-client.ts';
import { type Seeded, seeded } from './seeded.ts';
import { startServerProcess } from './server-process.ts';
import { QUIET_MS, RETRIES, untilQuiet, type Withstood } from './withstand.ts';

/** Clients of each tenant. */
const CLIENTS = 6;
const JOB_CLIENTS = 4;
/** Members of a course, which are three pages. */
const MEMBERS = 120;
const HELPER_KINDS = ['translate', 'pdf_optimize', 'pdf_translate'] as const;
const SECRET = 'a secret';
const CHANGES_PER_FAULT = 60;
const PROGRESS_MS = 5_000;
/** Targets broken at once. With more of them nothing would get done, and the test would show nothing. */
const BROKEN_AT_ONCE = 3;
/** Changes may be ahead of jobs by this share of the whole, so that both meet all faults. */
const AHEAD = 0.05;
const STANDSTILL_MS = 1_200_000;

/** A tenant with its server, its receiver and its people. */
interface Side {
  readonly tenant: TestTenant;
  readonly server: Kept;
  readonly receiver: Receiver;
  readonly lms: Lms;
  readonly arrivals: Arrivals;
  readonly changes: ChangeLog;
  readonly work: () => Promise<unknown>;
}

export interface SoakOptions {
  readonly tenants: number;
  readonly changes: number;
  readonly jobs: number;
  readonly seed: number;
  readonly progress: (line: string) => void;
}

/**
 * Changes and jobs of several tenants by the REST API, while worker, servers, both Redis, Postgres, the object store, a receiver,
 * the helpers, and the helper of one tenant's own suffer at moments that `seed` names. Resolves once everything is quiet, with
 * all that was lost, doubled or does not fit together, of events and of jobs.
 */
export async function soak({
  tenants,
  changes,
  jobs,
  seed,
  progress,
}: SoakOptions): Promise<Withstood & { readonly jobs: JobLog }> {
  const random = seeded(seed);
  const platform = await startPlatform({ durable: true });
  const log = new JobLog(jobs);
  const programs: Kept[] = [];
  const receivers: Receiver[] = [];
  const lmss: Lms[] = [];
  const own = await startHelper();
  try {
    const helpersPort = await freePort();
    let signal: Awaited<ReturnType<typeof startHelpersProcess>>['signal'] = () => undefined;
    const ours = await Kept.start('helpers', async (log) => {
      const helpers = await startHelpersProcess(helpersPort, log);
      ({ signal } = helpers);
      return helpers;
    });
    programs.push(ours);
    const worker = await Kept.start('worker', (log) =>
      startWorkerProcess(platform, { CARREL_WEBHOOK_RETRY_SECONDS: RETRIES }, log),
    );
    programs.push(worker);
    const sides: Side[] = [];
    for (const at of range(tenants)) {
      const side = await sideOf(platform, `t${at}`, Math.ceil(changes / tenants), log, random.fork(`tenant ${at}`));
      await useHelper(side.tenant, at === 0 ? own.url : `http://127.0.0.1:${helpersPort}`);
      sides.push(side);
      programs.push(side.server);
      receivers.push(side.receiver);
      lmss.push(side.lms);
    }
    const anyServer = { kill: () => (sides[random.between(0, tenants - 1)] as Side).server.kill() };
    const helpers = { ours: { kill: () => ours.kill(), signal: (name: 'SIGSTOP' | 'SIGCONT') => signal(name) }, own };
    const victims = { platform, receiver: receivers[0] as Receiver, worker, server: anyServer, withObjects: true, helpers };
    const injector = new Injector(victims, random.fork('faults'), progress);
    const started = performance.now();
    const seconds = (): string => `${Math.round((performance.now() - started) / 1_000)} s`;
    const ended = (): number => sides.reduce((sum, side) => sum + side.changes.ended, 0);
    const summary = (): string =>
      `${seconds()}: ${ended()} of ${changes} changes, ${log.count} of ${jobs} jobs, ` +
      `${sides.reduce((sum, { arrivals }) => sum + arrivals.taken.size, 0)} events arrived`;
    let shown = 0;
    const ticker = setInterval(() => {
      for (const { arrivals } of sides) arrivals.look();
      for (; shown < log.faults.length; shown += 1) progress(`WRONG: ${log.faults[shown]}`);
      progress(`${summary()}; broken now: ${injector.now}`);
    }, PROGRESS_MS);
    try {
      let isOver = false;
      const working = Promise.all(sides.map(({ work }) => work())).finally(() => (isOver = true));
      const count = Math.max(injector.kinds, Math.floor((changes + 5 * jobs) / CHANGES_PER_FAULT));
      await Promise.all([
        working,
        breakThings(
          injector,
          count,
          changes + jobs,
          () => ended() + log.count,
          () => isOver,
        ),
      ]);
      await injector.settled();
      for (const receiver of receivers) receiver.answer({ status: 204 });
      for (const { tenant } of sides) await untilQuiet(platform, tenant, QUIET_MS.least + changes * QUIET_MS.perChange);
    } finally {
      for (const side of sides) side.changes.abandon();
      clearInterval(ticker);
    }
    const faults = [...programs.flatMap(({ crashes }) => crashes), ...log.faults];
    for (const {
      tenant,
      changes: { acknowledged },
      arrivals,
    } of sides) {
      arrivals.look();
      faults.push(...(await inconsistencies(tenant, acknowledged, arrivals)));
    }
    const happened = [...injector.happened.values()].reduce((sum, each) => sum + each, 0);
    const injected = Object.fromEntries(injector.happened);
    return { faults, injected, kinds: injector.kinds, summary: `${summary()}; ${happened} faults`, jobs: log };
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    await Promise.all([own, ...receivers].map((each) => each.close()));
    await Promise.all(lmss.map((lms) => lms.stop()));
    await platform.stop();
  }
}

async function sideOf(platform: TestPlatform, name: string, wanted: number, jobs: JobLog, random: Seeded): Promise<Side> {
  const tenant = await platform.tenant();
  const receiver = await startReceiver();
  const webhook = await addWebhook(tenant, { url: receiver.url, secret: SECRET });
  const port = await freePort();
  const server = await Kept.start(`server of ${name}`, (log) => startServerProcess(tenant, port, {}, log));
  const url = `http://127.0.0.1:${port}/api/v1`;
  const changes = new ChangeLog(wanted);
  const friend = (await tenant.user()).user.id;
  const at = await registeredLms(tenant);
  const { id: course, enrolMany } = await rosterCourse(tenant, at);
  enrolMany(MEMBERS);
  const isAhead = (): boolean => changes.ended / wanted > jobs.count / jobs.wanted + AHEAD;
  const pace = () => waitFor('the jobs to come after the changes', () => changes.isAbandoned || !isAhead(), STANDSTILL_MS);
  const clients: { work(): Promise<void> }[] = [];
  for (const at of range(CLIENTS)) {
    const { account } = await accountOf(tenant);
    clients.push(new Client({ name: `client-${at}`, url, account, random: random.fork(`client ${at}`), log: changes, pace }));
  }
  for (const at of range(JOB_CLIENTS)) {
    const of = { ...(await accountOf(tenant)), name: `jobs-${at}`, url, tenant, jobs, changes };
    clients.push(
      new JobClient({
        ...of,
        random: random.fork(`jobs ${at}`),
        given: { webhook, friend, course, schedules: await schedulesOf(of.api, of.name) },
        first: at,
      }),
    );
  }
  const arrivals = new Arrivals(receiver, SECRET);
  return {
    tenant,
    server,
    receiver,
    lms: at.lms,
    arrivals,
    changes,
    work: () => Promise.all(clients.map((client) => client.work())),
  };
}

/** Has a tenant use one helper for all, as the operator does. */
const useHelper = ({ rows }: TestTenant, url: string): Promise<void> =>
  syncHelpers(
    rows,
    HELPER_KINDS.map((kind) => ({ kind, url, token: null })),
  );

/** Makes one schedule of each kind. */
async function schedulesOf(api: Api, name: string): Promise<ReadonlyMap<string, string>> {
  const made = new Map<string, string>();
  for (const kind of SCHEDULED_KINDS) {
    const { status, body } = await api.post('/schedules', {
      name: `${kind} of ${name}`,
      kind,
      cron: everyYear(),
      time_zone: 'UTC',
    });
    if (status !== 201) throw new Error(`POST /schedules: ${status} ${body?.message}`);
    made.set(kind, body.id);
  }
  return made;
}

async function accountOf(tenant: TestTenant): Promise<{ account: Account; userId: string; api: Api }> {
  const { user, password, api } = await tenant.user({ roles: ['admin'] });
  return { account: { email: user.email, password }, userId: user.id, api };
}

/** `count` faults at moments of all that is done. */
async function breakThings(
  injector: Injector,
  count: number,
  total: number,
  done: () => number,
  isOver: () => boolean,
): Promise<void> {
  for (const moment of injector.moments(count, total)) {
    await waitFor(`change or job ${moment} of ${total}`, () => done() >= moment || isOver(), STANDSTILL_MS);
    await waitFor('the end of a fault', () => injector.broken < BROKEN_AT_ONCE, STANDSTILL_MS);
    injector.next();
  }
}
