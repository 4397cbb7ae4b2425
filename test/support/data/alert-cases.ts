/** Series as the programs have them, a sample each minute: `0+1x60` counts from 0 to 60, `_` is no sample. */
export interface AlertCase {
  readonly alert: string;
  readonly when: string;
  readonly series: readonly string[];
  /** The labels with which it fires; undefined: it never does. */
  readonly fires?: Readonly<Record<string, string>>;
}

const of = (tenant: string): string => `namespace="faculty",tenant="${tenant}",pod="p-1"`;
const requests = (status: string, each: number, labels = of('biology')): string =>
  `http_request_duration_seconds_count{${labels},method="GET",route="/files",status="${status}"} 0+${each}x120`;
/** Requests of which each takes longer than `slow` s and at most 5 s, and as many that take less. */
const durations = (slow: string, method = 'GET', route = '/files'): string[] =>
  [
    ['0.1', 1],
    [slow, 1],
    ['5', 2],
    ['+Inf', 2],
  ].map(
    ([le, each]) =>
      `http_request_duration_seconds_bucket{${of('biology')},method="${method}",route="${route}",` +
      `status="2xx",le="${le}"} 0+${each}x120`,
  );
const leads = (pod: string, values: string): string =>
  `leader_election_master_status{name="carrel-operator",pod="${pod}"} ${values}`;
const failed = (values: string, pod = 'w-1'): string =>
  `carrel_webhook_deliveries_total{tenant="biology",result="failed",pod="${pod}"} ${values}`;
const dead = (values: string, pod = 'w-1'): string => `carrel_work_dead{shard="one",kind="objects.purge",pod="${pod}"} ${values}`;
const attempts = (result: string, values: string): string =>
  `carrel_webhook_deliveries_total{tenant="biology",result="${result}",pod="w-1"} ${values}`;
const rollouts = (state: string, values: string): string => `carrel_rollout_tenants{state="${state}",pod="a"} ${values}`;
/**
 * Returns series in which `within` of `all` jobs that begin each minute wait less than a minute, and the others less than five.
 */
const waits = (within: number, all: number): string[] =>
  [
    ['60', within],
    ['300', all],
    ['+Inf', all],
  ].map(([le, each]) => `carrel_jobs_wait_seconds_bucket{kind="batch",le="${le}",pod="w-1"} 0+${each}x120`);
const jobsEnded = (state: string, values: string): string =>
  `carrel_jobs_ended_total{kind="batch",state="${state}",pod="w-1"} ${values}`;
/**
 * Returns series in which `inTime` of `all` runs of schedules each minute are less than 5 minutes late, and those of missed
 * ticks.
 */
const scheduled = (inTime: number, all: number, missed: string): string[] => [
  `carrel_schedule_lateness_seconds_bucket{le="300",pod="w-1"} 0+${inTime}x120`,
  `carrel_schedule_lateness_seconds_bucket{le="3600",pod="w-1"} 0+${all}x120`,
  `carrel_schedule_lateness_seconds_bucket{le="+Inf",pod="w-1"} 0+${all}x120`,
  `carrel_schedule_ticks_total{outcome="missed",pod="w-1"} ${missed}`,
];
const ofWork = { shard: 'one', kind: 'objects.purge' };

/** When each alert fires, and when it does not. */
export const ALERT_CASES: readonly AlertCase[] = [
  { alert: 'CarrelOperatorWithoutLeader', when: 'no operator is scraped', series: [], fires: {} },
  { alert: 'CarrelOperatorWithoutLeader', when: 'both stand by', series: [leads('a', '0x120'), leads('b', '0x120')], fires: {} },
  { alert: 'CarrelOperatorWithoutLeader', when: 'one leads', series: [leads('a', '0x120'), leads('b', '1x120')] },
  {
    alert: 'CarrelOperatorWithoutLeader',
    when: 'a takeover lasts a minute',
    series: [leads('a', '1x9 0x110'), leads('b', '0x10 1x109')],
  },
  { alert: 'CarrelOperatorTwoLeaders', when: 'two lead', series: [leads('a', '1x120'), leads('b', '1x120')], fires: {} },
  {
    alert: 'CarrelOperatorTwoLeaders',
    when: 'one scrape of the former leader is old',
    series: [leads('a', '1x10 0x109'), leads('b', '0x9 1x110')],
  },
  {
    alert: 'CarrelReconcilesFail',
    when: 'one fails every minute',
    series: ['controller_runtime_reconcile_errors_total{controller="tenant"} 0+1x120'],
    fires: { controller: 'tenant' },
  },
  {
    alert: 'CarrelReconcilesFail',
    when: 'some failed and then succeeded',
    series: ['controller_runtime_reconcile_errors_total{controller="tenant"} 0x10 1+1x3 5x100'],
  },
  {
    alert: 'CarrelReconcilesWait',
    when: '51 wait',
    series: ['workqueue_depth{name="tenant"} 51x120'],
    fires: { name: 'tenant' },
  },
  { alert: 'CarrelReconcilesWait', when: '50 wait', series: ['workqueue_depth{name="tenant"} 50x120'] },
  {
    alert: 'CarrelReconcilesTimeOut',
    when: 'one is aborted each five minutes',
    series: ['controller_runtime_reconcile_timeouts_total{controller="tenant"} 0+1x4 4x4 5x4 6x4 7x4 8x4 9x4 10x4'],
    fires: { controller: 'tenant' },
  },
  {
    alert: 'CarrelReconcilesTimeOut',
    when: 'one was aborted once',
    series: ['controller_runtime_reconcile_timeouts_total{controller="tenant"} 0x10 1x109'],
  },
  {
    alert: 'CarrelWatchesBreak',
    when: 'a list each minute',
    series: ['reflector_lists_total{kind="Tenant"} 0+1x120'],
    fires: { kind: 'Tenant' },
  },
  {
    alert: 'CarrelWatchesBreak',
    when: 'a list each ten minutes',
    series: ['reflector_lists_total{kind="Tenant"} 1x9 2x9 3x9 4x9 5x9 6x60'],
  },
  {
    alert: 'CarrelRolloutFails',
    when: 'one tenant’s pods do not become ready',
    series: [rollouts('failing', '1x120')],
    fires: {},
  },
  {
    alert: 'CarrelRolloutFails',
    when: 'many wait, and one failed for a while',
    series: [rollouts('waiting', '50x120'), rollouts('failing', '0x10 1x10 0x99')],
  },
  {
    alert: 'CarrelShardDown',
    when: 'one of two shards does not answer',
    series: ['carrel_shard_up{shard="one"} 1x10 0x109', 'carrel_shard_up{shard="two"} 1x120'],
    fires: { shard: 'one' },
  },
  {
    alert: 'CarrelShardDown',
    when: 'a shard restarts, and the leader changes',
    series: ['carrel_shard_up{shard="one",pod="a"} 1x10 0x1 1x10 _x98', 'carrel_shard_up{shard="one",pod="b"} _x25 1x94'],
  },
  {
    alert: 'CarrelTenantAtLimit',
    when: 'a tenant has reached a limit, which both pods of the operator say',
    series: ['a', 'b'].map(
      (pod) => `carrel_tenant_at_limit{namespace="faculty",tenant="biology",reason="OverLimit",pod="${pod}"} 1x120`,
    ),
    fires: { namespace: 'faculty', tenant: 'biology', reason: 'OverLimit' },
  },
  {
    alert: 'CarrelTenantAtLimit',
    when: 'one was there for ten minutes',
    series: ['carrel_tenant_at_limit{namespace="faculty",tenant="biology",reason="LimitReached",pod="a"} 1x10'],
  },
  {
    alert: 'CarrelTenantSessionsEnded',
    when: 'a transaction ends each minute',
    series: ['carrel_tenant_sessions_ended_total{reason="transaction"} 0+1x120'],
    fires: { reason: 'transaction' },
  },
  {
    alert: 'CarrelTenantSessionsEnded',
    when: 'sessions of suspended tenants end',
    series: ['carrel_tenant_sessions_ended_total{reason="suspended"} 0+1x120'],
  },
  {
    alert: 'CarrelWorkerMissing',
    when: 'only servers are scraped',
    series: ['process_cpu_seconds_total{program="server"} 0+1x120'],
    fires: { program: 'worker' },
  },
  {
    alert: 'CarrelWorkerMissing',
    when: 'a worker has nothing to do',
    series: ['process_cpu_seconds_total{program="worker"} 0+1x120'],
  },
  {
    alert: 'CarrelWebhooksStuck',
    when: 'deliveries are due and the workers attempt none any more',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 31x120', attempts('retried', '7x120')],
    fires: { shard: 'one' },
  },
  {
    alert: 'CarrelWebhooksStuck',
    when: 'deliveries are due and no worker has attempted any since it began',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 31x120'],
    fires: { shard: 'one' },
  },
  {
    alert: 'CarrelWebhooksStuck',
    when: 'one receiver hangs, and its attempts go on',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 600x120', attempts('retried', '0+1x120')],
  },
  {
    alert: 'CarrelWebhooksStuck',
    when: 'nothing is due and nothing happens',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 0x120'],
  },
  {
    alert: 'CarrelWebhooksLate',
    when: 'one tenant’s burst takes 20 minutes',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 0x10 600x20 0x89'],
  },
  {
    alert: 'CarrelWebhooksLate',
    when: 'one has been due for 31 s',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 31x120'],
    fires: { shard: 'one' },
  },
  {
    alert: 'CarrelWebhooksLate',
    when: 'one has been due for 30 s',
    series: ['carrel_webhook_oldest_seconds{shard="one"} 30x120'],
  },
  { alert: 'CarrelWebhooksFail', when: 'a second one is given up', series: [failed('1x70 2x49')], fires: { tenant: 'biology' } },
  { alert: 'CarrelWebhooksFail', when: 'the first one is given up', series: [failed('_x70 1x49')], fires: { tenant: 'biology' } },
  {
    alert: 'CarrelWebhooksFail',
    when: 'all arrive',
    series: ['carrel_webhook_deliveries_total{tenant="biology",result="delivered"} 0+1x120'],
  },
  {
    alert: 'CarrelWorkAbandoned',
    when: 'an attempt was abandoned',
    series: ['carrel_work_results_total{kind="objects.sweep",result="abandoned",pod="w-1"} 3x10 4x109'],
    fires: { kind: 'objects.sweep' },
  },
  {
    alert: 'CarrelWorkAbandoned',
    when: 'the first attempt of a kind was abandoned',
    series: ['carrel_work_results_total{kind="objects.sweep",result="abandoned",pod="w-1"} _x10 1x109'],
    fires: { kind: 'objects.sweep' },
  },
  {
    alert: 'CarrelWorkAbandoned',
    when: 'attempts are retried',
    series: ['carrel_work_results_total{kind="objects.sweep",result="retried",pod="w-1"} 0+1x120'],
  },
  {
    alert: 'CarrelWorkLate',
    when: 'work has been due for 301 s',
    series: ['carrel_work_oldest_seconds{shard="one",kind="objects.purge"} 301x120'],
    fires: ofWork,
  },
  {
    alert: 'CarrelWorkLate',
    when: 'work has been due for 300 s',
    series: ['carrel_work_oldest_seconds{shard="one",kind="objects.purge"} 300x120'],
  },
  {
    alert: 'CarrelWorkLate',
    when: 'one person’s job takes 20 minutes',
    series: ['carrel_work_oldest_seconds{shard="one",kind="objects.purge"} 0x10 60+60x20 0x89'],
  },
  {
    alert: 'CarrelJobsWait',
    when: 'of ten jobs two begin after more than a minute',
    series: waits(8, 10),
    fires: { kind: 'batch' },
  },
  { alert: 'CarrelJobsWait', when: 'all begin within a minute', series: waits(10, 10) },
  {
    alert: 'CarrelJobsFail',
    when: 'every third fails',
    series: [jobsEnded('succeeded', '0+2x120'), jobsEnded('failed', '0+1x120')],
    fires: { kind: 'batch' },
  },
  {
    alert: 'CarrelJobsFail',
    when: 'one in a hundred fails',
    series: [jobsEnded('succeeded', '0+99x120'), jobsEnded('failed', '0+1x120')],
  },
  {
    alert: 'CarrelJobsFail',
    when: 'of a few all fail',
    series: [jobsEnded('failed', '0x10 1x10 2x10 3x10 4x80')],
  },
  {
    alert: 'CarrelSchedulesLate',
    when: 'one in ten runs is ten minutes late',
    series: scheduled(9, 10, '0x120'),
    fires: {},
  },
  { alert: 'CarrelSchedulesLate', when: 'one is missed', series: scheduled(10, 10, '0x60 1x59'), fires: {} },
  { alert: 'CarrelSchedulesLate', when: 'all run in time', series: scheduled(10, 10, '3x120') },
  {
    alert: 'CarrelHelpersFail',
    when: 'a breaker has been open for 20 minutes',
    series: ['carrel_helper_breakers_open{helper="translate",pod="w-1"} 0x60 1x59'],
    fires: { helper: 'translate' },
  },
  {
    alert: 'CarrelHelpersFail',
    when: 'a helper is asked every three minutes, and each time opens the breaker again',
    series: [`carrel_helper_breakers_open{helper="translate",pod="w-1"} 0x60${' 1 0 0'.repeat(20)}`],
    fires: { helper: 'translate' },
  },
  {
    alert: 'CarrelHelpersFail',
    when: 'one opens for five minutes',
    series: ['carrel_helper_breakers_open{helper="translate",pod="w-1"} 0x60 1x5 0x54'],
  },
  {
    alert: 'CarrelQueueRestarts',
    when: 'a queue starts over every five minutes',
    series: [
      'carrel_queue_restarts_total{queue="work",pod="w-1"} ' +
        Array.from({ length: 24 }, (_, at) => `${at} ${at} ${at} ${at} ${at}`).join(' '),
    ],
    fires: { queue: 'work' },
  },
  {
    alert: 'CarrelQueueRestarts',
    when: 'it did once',
    series: ['carrel_queue_restarts_total{queue="work",pod="w-1"} 0x30 1x90'],
  },
  { alert: 'CarrelDeadLetters', when: 'another job fails for good', series: [dead('3x70 4x49')], fires: ofWork },
  { alert: 'CarrelDeadLetters', when: 'the first job of a kind fails for good', series: [dead('_x70 1x49')], fires: ofWork },
  {
    alert: 'CarrelDeadLetters',
    when: 'jobs fail and are retried, and another pod says so',
    series: [dead('0x60'), dead('_x60 0x59', 'w-2')],
  },
  {
    alert: 'CarrelGradesWait',
    when: 'a grade has waited for more than 6 hours',
    series: ['carrel_work_waiting_seconds{shard="one",kind="grades.submit"} 21601x120'],
    fires: {},
  },
  {
    alert: 'CarrelGradesWait',
    when: 'other work has',
    series: ['carrel_work_waiting_seconds{shard="one",kind="objects.purge"} 30000x120'],
  },
  { alert: 'CarrelSweepsRefused', when: 'one is refused', series: ['carrel_sweeps_refused_total 0x60 1x59'], fires: {} },
  { alert: 'CarrelSweepsRefused', when: 'none is', series: ['carrel_sweeps_refused_total 0x120'] },
  {
    alert: 'CarrelIntegrityFaults',
    when: 'one of two faults is put right',
    series: [
      'carrel_integrity_faults_total{kind="wrong_size"} 0x60 2x59',
      'carrel_integrity_repaired_total{kind="wrong_size"} 0x60 1x59',
    ],
    fires: { kind: 'wrong_size' },
  },
  {
    alert: 'CarrelIntegrityFaults',
    when: 'all faults are put right',
    series: [
      'carrel_integrity_faults_total{kind="wrong_size"} 0x60 2x59',
      'carrel_integrity_repaired_total{kind="wrong_size"} 0x60 2x59',
    ],
  },
  {
    alert: 'CarrelRequestsFail',
    when: '7 % of the requests of one tenant fail',
    series: [requests('5xx', 7), requests('2xx', 93), requests('2xx', 100, of('history'))],
    fires: { namespace: 'faculty', tenant: 'biology' },
  },
  {
    alert: 'CarrelRequestsFail',
    when: '4 % fail, and many are refused',
    series: [requests('5xx', 4), requests('2xx', 56), requests('4xx', 40)],
  },
  {
    alert: 'CarrelRequestsFail',
    when: 'quotas are full and an LMS does not answer',
    series: [requests('507', 60), requests('502', 60), requests('504', 60), requests('2xx', 60)],
  },
  {
    alert: 'CarrelRequestsFail',
    when: 'five of the ten requests that an idle tenant has in a minute fail',
    series: [requests('5xx', 5), requests('2xx', 5)],
  },
  {
    alert: 'CarrelRequestsSlow',
    when: 'half of the requests take more than a second',
    series: durations('1'),
    fires: { namespace: 'faculty', tenant: 'biology' },
  },
  { alert: 'CarrelRequestsSlow', when: 'downloads do', series: durations('1', 'GET', '/files/{id}/download') },
  { alert: 'CarrelRequestsSlow', when: 'folders as archives do', series: durations('1', 'GET', '/folders/{id}/zip') },
  { alert: 'CarrelRequestsSlow', when: 'downloads by a link do', series: durations('1', 'GET', '/tickets/{ticket}') },
  { alert: 'CarrelRequestsSlow', when: 'uploads do', series: durations('1', 'POST') },
  {
    alert: 'CarrelServersWithoutRedis',
    when: 'a server does without',
    series: ['http_requests_without_redis_total 0+1x120'],
    fires: {},
  },
  { alert: 'CarrelServersWithoutRedis', when: 'none does', series: ['http_requests_without_redis_total 7x120'] },
];
