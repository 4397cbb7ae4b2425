import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createContent, grantSource, type TransferLimits } from '../../pkg/content/content.ts';
import { Events } from '../../pkg/events/events.ts';
import { WakeUps } from '../../pkg/events/wake-ups.ts';
import { createWebhooks } from '../../pkg/events/webhooks/webhooks.ts';
import { WorkRequests } from '../../pkg/events/work.ts';
import { BASE_PATH, createApp } from '../../pkg/http/app.ts';
import { Door } from '../../pkg/http/door.ts';
import { IdempotencyKeys } from '../../pkg/http/idempotency.ts';
import { createListener } from '../../pkg/http/listener.ts';
import { WebBundle } from '../../pkg/http/web-bundle.ts';
import { createIdentity } from '../../pkg/identity/identity.ts';
import { PermissionSets } from '../../pkg/identity/permission-sets.ts';
import { Sessions } from '../../pkg/identity/sessions.service.ts';
import { Tokens } from '../../pkg/identity/tokens.ts';
import { gradeEndpoints } from '../../pkg/lti/grades/grades.endpoints.ts';
import { Grades } from '../../pkg/lti/grades/grades.service.ts';
import { createLti } from '../../pkg/lti/lti.ts';
import { guardedClient } from '../../pkg/net/client.ts';
import { guardedSockets } from '../../pkg/net/guarded-sockets.ts';
import { type Clock, systemClock } from '../../pkg/runtime/clock.ts';
import { ConfigError } from '../../pkg/runtime/config.ts';
import type { Logger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { listen, startOpsServer } from '../../pkg/runtime/ops.ts';
import { type Random, systemRandom } from '../../pkg/runtime/random.ts';
import { parseDataKeys, SealError, Sealer } from '../../pkg/runtime/sealing.ts';
import { Database } from '../../pkg/store/postgres/database.ts';
import type { ConnectionOptions } from '../../pkg/store/postgres/pool.ts';
import { redisPrefix } from '../../pkg/store/redis/acl.ts';
import { GenerationCache } from '../../pkg/store/redis/generation.ts';
import { connectRedis, type RedisOptions } from '../../pkg/store/redis/redis.ts';
import { SlidingWindows } from '../../pkg/store/redis/window.ts';
import { Objects } from '../../pkg/store/s3/objects.ts';
import type { ServerConfig } from './config.ts';

export interface ServerOptions {
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly observeSql?: NonNullable<ConnectionOptions['observe']>;
  readonly observeRedis?: NonNullable<RedisOptions['observe']>;
  /** Tests: a reply that an endpoint does not declare is a mistake of ours. */
  readonly exact?: boolean;
  /** Tests: other limits of uploads and downloads than those that hold. */
  readonly transferLimits?: Partial<TransferLimits>;
  /** Tests: where the browser's pages were built to; the checkout's or image's unless said. */
  readonly webFolder?: string;
}

/** One tenant's server, listening. */
export interface CarrelServer {
  readonly port: number;
  readonly opsPort: number;
  /** Takes no new request, ends those under way within DRAIN_MS, closes the stores. */
  stop(): Promise<void>;
}

/** What pkg/web is built to, in the checkout as in the image. */
const WEB_FOLDER = join(import.meta.dirname, '../../pkg/web/dist');

/** Requests that are under way when the server is told to stop have so long. */
export const DRAIN_MS = 20_000;

/** Wires one tenant's server and starts it: the same for main.ts and for tests. Asks no store before it listens. */
export async function createServer(config: ServerConfig, options: ServerOptions): Promise<CarrelServer> {
  const { log, clock = systemClock, random = systemRandom, observeSql, observeRedis } = options;
  const metrics = createMetrics('server');
  const tenant = { slug: config.CARREL_TENANT_SLUG, id: config.CARREL_TENANT_ID };
  const addresses = { appUrl: config.CARREL_APP_URL, ltiUrl: config.CARREL_LTI_URL ?? config.CARREL_APP_URL };
  const apiUrl = `${addresses.appUrl}${BASE_PATH}`;
  const sealer = dataSealer(config.CARREL_DATA_KEYS, random);
  const tokens = await Tokens.load(config.CARREL_SIGNING_KEYS, { tenant: tenant.slug, issuer: config.CARREL_APP_URL, clock, random });

  const db = new Database({
    url: config.CARREL_DATABASE_URL,
    poolSize: config.CARREL_DATABASE_POOL_SIZE,
    log,
    ...(observeSql ? { observe: observeSql } : {}),
  });
  const redis = connectRedis({
    url: config.CARREL_REDIS_URL,
    prefix: redisPrefix(tenant.slug),
    log,
    random,
    ...(observeRedis ? { observe: observeRedis } : {}),
  });
  const objects = new Objects({
    endpoint: config.CARREL_S3_ENDPOINT,
    region: config.CARREL_S3_REGION,
    bucket: config.CARREL_S3_BUCKET,
    ...(config.CARREL_S3_PREFIX === undefined ? {} : { prefix: config.CARREL_S3_PREFIX }),
    accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
    ...(config.CARREL_S3_GUARDED ? { connect: guardedSockets({ allow: config.CARREL_EGRESS_ALLOW, clock }) } : {}),
  });

  const cache = new GenerationCache({ redis, random, log, clock });
  const windows = new SlidingWindows({ redis, clock, random });
  const sessions = new Sessions({ db, cache, clock, random, tenantId: tenant.id });
  const permissionSets = new PermissionSets({ cache, grants: grantSource(db), clock });
  const wakeUps = new WakeUps({ redis, log });
  const events = new Events({ wakeUps, clock, random });
  const work = new WorkRequests({ wakeUps });
  const content = createContent({
    db,
    objects,
    work,
    events,
    cache,
    permissionSets,
    sessions,
    sealer,
    clock,
    random,
    log,
    tenantId: tenant.id,
    apiUrl,
    bucket: config.CARREL_S3_BUCKET,
    maxUploadBytes: config.CARREL_MAX_UPLOAD_BYTES,
    transferLimits: options.transferLimits,
  });
  const identity = createIdentity({
    db,
    cache,
    windows,
    tokens,
    sessions,
    belongings: content.belongings,
    events,
    sealer,
    clock,
    random,
    tenantId: tenant.id,
    defaultQuota: config.CARREL_DEFAULT_USER_QUOTA_BYTES,
    basePath: BASE_PATH,
    secure: apiUrl.startsWith('https:'),
  });
  const egressAllow = config.CARREL_EGRESS_ALLOW;
  const webhooks = createWebhooks({ db, wakeUps, sealer, tenantId: tenant.id, egressAllow, clock, random });
  const client = guardedClient({ allow: egressAllow, clock, metrics });
  const web = WebBundle.load(options.webFolder ?? WEB_FOLDER, log);
  const lti = createLti({
    db,
    cache,
    events,
    permissionSets,
    tokens,
    web,
    client,
    sealer,
    clock,
    random,
    log,
    metrics,
    tenantId: tenant.id,
    defaultQuota: config.CARREL_DEFAULT_USER_QUOTA_BYTES,
    ...addresses,
  });
  const limits = {
    userPerMinute: config.CARREL_LIMIT_USER_PER_MINUTE,
    tenantPerMinute: config.CARREL_LIMIT_TENANT_PER_MINUTE,
    addressPerHour: config.CARREL_LIMIT_IP_PER_HOUR,
  };
  const door = new Door({ redis, windows, cache, sessions, permissionSets, limits, metrics });
  const app = createApp(
    {
      door,
      tokens,
      idempotency: new IdempotencyKeys({ db, clock }),
      clock,
      random,
      apiUrl,
      log,
      metrics,
      tenant,
      exact: options.exact ?? false,
      trustedProxies: config.CARREL_TRUSTED_PROXIES,
      hosts: new Set(Object.values(addresses).map((url) => new URL(url).host)),
      web,
    },
    [
      ...identity.endpoints,
      ...content.endpoints,
      ...webhooks,
      ...lti.endpoints,
      ...gradeEndpoints(new Grades({ db, work, clock, random })),
    ],
    lti.pages,
  );

  let refusal: string | null = 'starting';
  const ops = await startOpsServer({ host: config.CARREL_LISTEN_HOST, port: config.CARREL_OPS_PORT, metrics, ready: () => refusal });
  const listener = createListener(app, random);
  await listen(listener.server, config.CARREL_PORT, config.CARREL_LISTEN_HOST);
  refusal = null;
  const { port } = listener.server.address() as AddressInfo;
  log.info({ port, opsPort: ops.port }, 'listening');

  return {
    port,
    opsPort: ops.port,
    stop: async () => {
      refusal = 'stopping';
      await listener.drain(DRAIN_MS);
      await Promise.allSettled([client.close(), db.close(), redis.close(), Promise.resolve(objects.close()), ops.close()]);
    },
  };
}

/** Throws ConfigError. */
function dataSealer(keys: string, random: Random): Sealer {
  try {
    return new Sealer(parseDataKeys(keys), random);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new ConfigError(`server: CARREL_DATA_KEYS is not valid: ${error.message} (docs/operate.md).`);
  }
}
