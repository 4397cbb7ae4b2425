import type { WorkerShard } from '../../pkg/events/processor.ts';
import { startWorker } from '../../pkg/jobs/worker.ts';
import { systemClock } from '../../pkg/runtime/clock.ts';
import { ConfigError, readConfig } from '../../pkg/runtime/config.ts';
import { createLogger, type Logger, silentLogger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { startOpsServer } from '../../pkg/runtime/ops-server.ts';
import { runProgram } from '../../pkg/runtime/program.ts';
import { systemRandom } from '../../pkg/runtime/random.ts';
import { Sealer } from '../../pkg/runtime/sealing.ts';
import { Database } from '../../pkg/store/postgres/database.ts';
import { SqlPool, USES_OF_A_CONNECTION } from '../../pkg/store/postgres/pool.ts';
import { Registry } from '../../pkg/store/postgres/registry.ts';
import { startTraces } from '../../pkg/runtime/trace-settings.ts';
import { trustCertificates } from '../../pkg/runtime/trusted-certificates.ts';
import { readShardUrls, type WorkerConfig, workerConfigSchema } from './config.ts';
import { workerJobs } from './jobs.ts';

/** Connections to each shard for leases and outcomes, which are written in batches. */
const LEASE_POOL_SIZE = 4;
/** A step of a job may take as long as a tenant's role allows a statement to last. */
const QUERY_TIMEOUT_MS = 60_000;
/**
 * Statements of leases take milliseconds. A connection that answers none within this time is given up: until then its queue
 * leases nothing.
 */
const LEASE_QUERY_TIMEOUT_MS = 3_000;

let log: Logger = silentLogger;

await runProgram(
  () => log,
  async (program) => {
    log = createLogger({ program: 'worker' });
    const config = readConfig('worker', workerConfigSchema, process.env);
    trustCertificates(config.CARREL_TRUSTED_CERTIFICATES_FILE);
    program.onStop('traces', await startTraces(config, { program: 'worker', trustsParents: true, log: () => log }));
    log = createLogger({ program: 'worker', level: config.CARREL_LOG_LEVEL });
    const time = { clock: systemClock, random: systemRandom };
    const metrics = createMetrics('worker');
    const keys = config.CARREL_PLATFORM_KEYS;
    const sealer = new Sealer(keys, systemRandom);
    const urls = readShardUrls(config.CARREL_SHARDS_DIR);
    const shards = new Map(urls.map(({ name, url }) => [name, poolsOf(url, config)]));
    const pools = [...shards.values()].flatMap(({ db, leasePool }) => [db, leasePool]);
    program.onStop('pools', async () => void (await Promise.all(pools.map((pool) => pool.close()))));
    const [registryShard] = shards.values();
    if (!registryShard) throw new ConfigError('worker: CARREL_SHARDS_DIR contains no shard (docs/operate/settings.md).');
    const registry = new Registry({ pool: registryShard.db, sealer, ...time });

    const worker = startWorker(
      {
        shards,
        registry,
        redisUrl: config.CARREL_REDIS_ADMIN_URL,
        queueRedisUrl: config.CARREL_QUEUE_REDIS_URL,
        platformKeys: keys,
        egressAllow: config.CARREL_EGRESS_ALLOW,
        ...time,
        log,
        metrics,
      },
      workerJobs(config),
    );
    program.onStop('worker', () => worker.close());
    const ready = (): string | null => (program.stopping.aborted ? 'stopping' : null);
    const ops = await startOpsServer({ host: config.CARREL_LISTEN_HOST, port: config.CARREL_OPS_PORT, metrics, ready });
    program.onStop('ops', () => ops.close());
    log.info({ opsPort: ops.port, shards: [...shards.keys()] }, 'started');
  },
);

function poolsOf(url: string, { CARREL_DATABASE_POOL_SIZE: poolSize }: WorkerConfig): WorkerShard {
  return {
    db: new Database({ url, poolSize, queryTimeoutMs: QUERY_TIMEOUT_MS, connectionUses: USES_OF_A_CONNECTION, log }),
    // Its statements run no function of a tenant, and logging in again would delay a delivery.
    leasePool: new SqlPool({
      url,
      poolSize: LEASE_POOL_SIZE,
      queryTimeoutMs: LEASE_QUERY_TIMEOUT_MS,
      connectionUses: Infinity,
      log,
    }),
  };
}
