import { join } from 'node:path';
import { PermissionSets } from '../../pkg/access/permission-sets.ts';
import { Sessions } from '../../pkg/access/sessions.ts';
import { Tokens } from '../../pkg/access/tokens.ts';
import { BASE_PATH } from '../../pkg/api/endpoint.ts';
import { Events } from '../../pkg/events/events.ts';
import { WorkerNotifier } from '../../pkg/events/worker-notifier.ts';
import { JobRequests } from '../../pkg/events/job-requests.ts';
import { type Feature, grantsOfFeatures } from '../../pkg/feature/feature.ts';
import { Offboarding } from '../../pkg/feature/offboarding.ts';
import type { TenantServices } from '../../pkg/feature/services.ts';
import { WebBundle } from '../../pkg/http/web-bundle.ts';
import { guardedClient } from '../../pkg/net/client.ts';
import { guardedSockets } from '../../pkg/net/guarded-sockets.ts';
import { type Clock, systemClock } from '../../pkg/runtime/clock.ts';
import type { Logger } from '../../pkg/runtime/log.ts';
import { createMetrics } from '../../pkg/runtime/metrics.ts';
import { type Random, systemRandom } from '../../pkg/runtime/random.ts';
import { Sealer } from '../../pkg/runtime/sealing.ts';
import { Database } from '../../pkg/store/postgres/database.ts';
import type { ConnectionOptions } from '../../pkg/store/postgres/pool.ts';
import { redisPrefix } from '../../pkg/store/redis/acl.ts';
import { TaggedCache } from '../../pkg/store/redis/tagged-cache.ts';
import { connectRedis, type Redis, type RedisOptions } from '../../pkg/store/redis/redis.ts';
import { SlidingLogLimiter } from '../../pkg/store/redis/sliding-log-limiter.ts';
import { Objects } from '../../pkg/store/s3/objects.ts';
import type { ServerConfig } from './config.ts';

export interface ServiceOptions {
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly observeSql?: NonNullable<ConnectionOptions['observe']>;
  readonly observeRedis?: NonNullable<RedisOptions['observe']>;
  /** For tests: the directory of the built pages; default: that of the checkout or image. */
  readonly webFolder?: string;
}

/** The services of the features, and those that only the server uses. */
interface ServerServices extends TenantServices {
  readonly web: WebBundle;
  readonly redis: Redis;
  /** Closes the connections to the stores and those of `client`. */
  close(): Promise<void>;
}

/** The build output of pkg/web, in the checkout and in the image. */
const WEB_FOLDER = join(import.meta.dirname, '../../pkg/web/dist');

/** Creates the services of one tenant from the server's settings. Connects to no back end. Throws ConfigError. */
export async function createServices(
  config: ServerConfig,
  features: readonly Feature[],
  options: ServiceOptions,
): Promise<ServerServices> {
  const { log, clock = systemClock, random = systemRandom, observeSql, observeRedis } = options;
  const tenant = {
    slug: config.CARREL_TENANT_SLUG,
    id: config.CARREL_TENANT_ID,
    name: config.CARREL_TENANT_NAME,
    resource: config.CARREL_TENANT_RESOURCE,
  };
  const appUrl = config.CARREL_APP_URL;
  const metrics = createMetrics('server');
  const sealer = new Sealer(config.CARREL_DATA_KEYS, random);
  const tokens = await Tokens.load(config.CARREL_SIGNING_KEYS, { tenant: tenant.slug, issuer: appUrl, clock, random });
  const db = new Database({
    url: config.CARREL_DATABASE_URL,
    nextPassword: config.CARREL_DATABASE_NEXT_PASSWORD,
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
  const objects = connectObjects(config, clock);
  const client = guardedClient({ allow: config.CARREL_EGRESS_ALLOW, clock, metrics });
  const cache = new TaggedCache({ redis, random, log, clock });
  const permissionSets = new PermissionSets({ cache, grants: grantsOfFeatures(features, db), clock });
  const notifier = new WorkerNotifier({ redis, log });
  return {
    tenant,
    addresses: { appUrl, ltiUrl: config.CARREL_LTI_URL ?? appUrl, apiUrl: `${appUrl}${BASE_PATH}` },
    settings: {
      bucket: config.CARREL_S3_BUCKET,
      defaultQuota: config.CARREL_DEFAULT_USER_QUOTA_BYTES,
      maxUploadBytes: config.CARREL_MAX_UPLOAD_BYTES,
      maxDatabaseBytes: config.CARREL_LIMIT_DATABASE_BYTES,
      requests: {
        userPerMinute: config.CARREL_LIMIT_USER_PER_MINUTE,
        tenantPerMinute: config.CARREL_LIMIT_TENANT_PER_MINUTE,
        addressPerHour: config.CARREL_LIMIT_IP_PER_HOUR,
      },
      trashRetentionMs: config.CARREL_TRASH_RETENTION_SECONDS * 1000,
      versions: { keep: config.CARREL_VERSIONS_KEEP, days: config.CARREL_VERSIONS_DAYS },
      egressAllow: config.CARREL_EGRESS_ALLOW,
    },
    db,
    objects,
    redis,
    cache,
    rateLimiter: new SlidingLogLimiter({ redis, clock, random }),
    events: new Events({ notifier, clock, random }),
    jobs: new JobRequests({ notifier }),
    notifier,
    sessions: new Sessions({ db, cache, permissionSets, clock, random, tenantId: tenant.id }),
    tokens,
    offboarding: new Offboarding(),
    sealer,
    client,
    web: WebBundle.load(options.webFolder ?? WEB_FOLDER, { tenantName: config.CARREL_TENANT_NAME, log }),
    clock,
    random,
    log,
    metrics,
    close: async () => {
      await Promise.allSettled([client.close(), db.close(), redis.close(), Promise.resolve(objects.close())]);
    },
  };
}

const connectObjects = (config: ServerConfig, clock: Clock): Objects =>
  new Objects({
    endpoint: config.CARREL_S3_ENDPOINT,
    region: config.CARREL_S3_REGION,
    bucket: config.CARREL_S3_BUCKET,
    ...(config.CARREL_S3_PREFIX === undefined ? {} : { prefix: config.CARREL_S3_PREFIX }),
    accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
    ...(config.CARREL_S3_GUARDED ? { connect: guardedSockets({ allow: config.CARREL_EGRESS_ALLOW, clock }) } : {}),
  });
