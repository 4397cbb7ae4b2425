import { Redis as RedisClient } from 'ioredis';
import { exportJWK, generateKeyPair } from 'jose';
import { type ServerConfig, serverConfigSchema } from '../../../cmd/server/config.ts';
import { FEATURES } from '../../../cmd/server/features.ts';
import { type CarrelServer, createServer } from '../../../cmd/server/server.ts';
import { accountsFeature } from '../../../pkg/accounts/accounts.ts';
import { contentFeature, type TransferLimits } from '../../../pkg/content/content.ts';
import type { Feature } from '../../../pkg/feature/feature.ts';
import type { HelperLimits } from '../../../pkg/helper-services/calls/helper-calls.ts';
import { helperServicesFeature } from '../../../pkg/helper-services/helper-services.ts';
import { ensureAdministrator } from '../../../pkg/accounts/administrator.ts';
import { type PasswordCost, Passwords } from '../../../pkg/accounts/passwords.ts';
import type { UserView } from '../../../pkg/accounts/users/users.schema.ts';
import { type Clock, systemClock } from '../../../pkg/runtime/clock.ts';
import { createLogger, silentLogger } from '../../../pkg/runtime/log.ts';
import { DAY_MS } from '../../../pkg/runtime/time.ts';
import { dataKeys } from '../../../pkg/operator/tenant/keys/keys-step.ts';
import { freePort } from '../backends/ports.ts';
import { type Random, systemRandom } from '../../../pkg/runtime/random.ts';
import { Sealer, type SealingKey } from '../../../pkg/runtime/sealing.ts';
import type { StoreAddresses } from '../../../pkg/local/platform.ts';
import { Database } from '../../../pkg/store/postgres/database.ts';
import { SqlPool } from '../../../pkg/store/postgres/pool.ts';
import {
  ensureShard,
  ensureTenantDatabase,
  migrateTenant,
  type ShardAccess,
  tenantRole,
} from '../../../pkg/store/postgres/provisioning.ts';
import { redisPrefix, redisUser, RedisUsers } from '../../../pkg/store/redis/acl.ts';
import { connectRedis, type Redis } from '../../../pkg/store/redis/redis.ts';
import { bucketName, StorageAdmin } from '../../../pkg/store/s3/admin.ts';
import type { TenantRows } from '../../../pkg/store/postgres/tenant-schema.ts';
import { Objects } from '../../../pkg/store/s3/objects.ts';
import { StoreUnavailableError } from '../../../pkg/store/unavailable.ts';
import { Api } from '../clients/api.ts';
import { testBackends } from '../backends/backends.ts';
import { untilServed } from '../wait.ts';

export interface TenantOptions {
  /** Each a million unless set. */
  readonly limits?: { readonly user?: number; readonly tenant?: number; readonly ip?: number };
  /** The tenant's display name. */
  readonly name?: string;
  readonly defaultUserQuota?: number;
  readonly maxUploadBytes?: number;
  /** Unlimited unless set. */
  readonly transfers?: Partial<TransferLimits>;
  /** Limits of helper services; the server's defaults unless set. */
  readonly helpers?: Partial<HelperLimits>;
  readonly trustedProxies?: number;
  /** True: a password costs what it does in production, 20 ms of CPU; else next to nothing. */
  readonly realPasswords?: boolean;
  /** The time between two additions of the counts of requests: so long that none is among the statements that a test counts. */
  readonly addRequestsEveryMs?: number;
  /** Beside those of the server. */
  readonly features?: readonly Feature[];
  readonly clock?: Clock;
  readonly random?: Random;
  /** Stores of the test's own, when it is going to break them. */
  readonly stores?: StoreAddresses;
  /** The tenant's registration, where a worker or an operator must know it too; made up unless set. */
  readonly registered?: RegisteredTenant;
}

export interface RegisteredTenant {
  readonly slug: string;
  /** Decimal string. */
  readonly tenantId: string;
  /** The platform's keys, of which the tenant's data keys are made. */
  readonly platformKeys: readonly SealingKey[];
}

/** A tenant of the test's own with its server running in this process; made as the operator makes one. */
export interface TestTenant {
  readonly slug: string;
  /** Decimal string. */
  readonly tenantId: string;
  readonly url: string;
  readonly apiUrl: string;
  readonly opsUrl: string;
  readonly config: ServerConfig;
  /** The settings as the operator writes them: the environment of cmd/server/main.ts. */
  readonly env: Readonly<Record<string, string>>;
  /** Connects with the tenant's own credentials. */
  readonly db: Database;
  readonly redis: Redis;
  /** The administrator's client, with the tenant's prefix: for commands that the tenant's own user may not run. */
  readonly redisAdmin: RedisClient;
  readonly objects: Objects;
  /** The tenant's schema as the operator reaches it. */
  readonly rows: TenantRows;
  /** The first administrator, signed in. */
  readonly admin: Api;
  readonly anonymous: Api;
  readonly administrator: { readonly email: string; readonly password: string };
  /** Creates a user and signs in. */
  user(input?: {
    email?: string;
    roles?: string[];
    password?: string;
    storage_quota?: number;
  }): Promise<{ api: Api; user: UserView; password: string }>;
  /** SQL statements and Redis round trips that the server makes while `work` runs. */
  counting<T>(work: () => Promise<T>): Promise<{ reply: T; sql: string[]; redisTrips: number; redisCommands: string[] }>;
  /** The statements and round trips since the last `counting`, in their order. */
  readonly observed: { readonly sql: readonly string[]; readonly trips: readonly string[] };
  /** Another server of the same tenant, with other settings. */
  restart(settings?: Partial<ServerConfig>): Promise<void>;
  stop(): Promise<void>;
}

const LOG = process.env.CARREL_TEST_LOG ? createLogger({ program: 'server', level: process.env.CARREL_TEST_LOG }) : silentLogger;

export async function startTenant(options: TenantOptions = {}): Promise<TestTenant> {
  const stores = options.stores ?? testBackends().stores;
  const made = await provision(stores, options.registered ?? madeUp(), options.realPasswords ?? false);
  const port = await freePort();
  const env: Record<string, string> = {
    ...made.env,
    CARREL_APP_URL: `http://127.0.0.1:${port}`,
    CARREL_LISTEN_HOST: '127.0.0.1',
    CARREL_PORT: String(port),
    CARREL_OPS_PORT: '0',
    CARREL_DATABASE_POOL_SIZE: '5',
    CARREL_LIMIT_USER_PER_MINUTE: String(options.limits?.user ?? 1_000_000),
    CARREL_LIMIT_TENANT_PER_MINUTE: String(options.limits?.tenant ?? 1_000_000),
    CARREL_LIMIT_IP_PER_HOUR: String(options.limits?.ip ?? 1_000_000),
    CARREL_TRUSTED_PROXIES: String(options.trustedProxies ?? 0),
    ...(options.name === undefined ? {} : { CARREL_TENANT_NAME: options.name }),
    ...(options.defaultUserQuota === undefined ? {} : { CARREL_DEFAULT_USER_QUOTA_BYTES: String(options.defaultUserQuota) }),
    ...(options.maxUploadBytes === undefined ? {} : { CARREL_MAX_UPLOAD_BYTES: String(options.maxUploadBytes) }),
  };
  const config = serverConfigSchema.parse(env);

  const sql: string[] = [];
  const trips: string[] = [];
  const ofTests = [
    accountsFeature(options.realPasswords ? undefined : CHEAP_PASSWORDS),
    contentFeature({ perPerson: 1_000_000, ...options.transfers }),
    helperServicesFeature(options.helpers),
  ];
  const features = [
    ...FEATURES.map((feature) => ofTests.find(({ name }) => name === feature.name) ?? feature),
    ...(options.features ?? []),
  ];
  const start = (settings: Partial<ServerConfig>): Promise<CarrelServer> =>
    createServer(
      { ...config, ...settings },
      {
        log: LOG,
        exact: true,
        features,
        addRequestsEveryMs: options.addRequestsEveryMs ?? DAY_MS,
        ...(options.clock ? { clock: options.clock } : {}),
        ...(options.random ? { random: options.random } : {}),
        observeSql: (statement) => void sql.push(statement.sql),
        observeRedis: ({ command }) => void trips.push(command),
      },
    );
  let server = await start({});

  const apiUrl = `${config.CARREL_APP_URL}/api/v1`;
  const anonymous = new Api(apiUrl);
  const admin = await anonymous.login(made.administrator.email, made.administrator.password);
  const db = new Database({ url: config.CARREL_DATABASE_URL, poolSize: 2, log: silentLogger });
  const redis = connectRedis({ url: config.CARREL_REDIS_URL, prefix: redisPrefix(made.slug), log: silentLogger });
  const redisAdmin = new RedisClient(stores.redis.adminUrl, { keyPrefix: redisPrefix(made.slug), lazyConnect: true });
  const objects = objectsOf(config);

  return {
    slug: made.slug,
    tenantId: made.tenantId,
    url: config.CARREL_APP_URL,
    apiUrl,
    get opsUrl() {
      return `http://127.0.0.1:${server.opsPort}`;
    },
    config,
    env,
    db,
    redis,
    redisAdmin,
    objects,
    rows: {
      slug: made.slug,
      tenantId: made.tenantId,
      pool: made.pool,
      sealer: new Sealer(config.CARREL_DATA_KEYS, systemRandom),
    },
    admin,
    anonymous,
    administrator: made.administrator,
    user: async (input = {}) => {
      const name = `user-${systemRandom.hex(5)}`;
      const password = input.password ?? 'correct horse battery';
      const body = { email: `${name}@example.org`, username: name, password, ...input };
      let created = await untilServed(() => admin.post('/users', body));
      // A test may last longer than an access token.
      if (created.status === 401) {
        const again = await anonymous.login(made.administrator.email, made.administrator.password);
        created = await untilServed(() => again.post('/users', body));
      }
      if (created.status !== 201) throw new Error(`the user was not made: ${created.status} ${JSON.stringify(created.body)}`);
      const user = created.body as UserView;
      return { api: await anonymous.login(user.email, password), user, password };
    },
    observed: { sql, trips },
    counting: async (work) => {
      sql.length = 0;
      trips.length = 0;
      const reply = await work();
      return { reply, sql: [...sql], redisTrips: trips.length, redisCommands: [...trips] };
    },
    restart: async (settings = {}) => {
      await server.stop();
      server = await start(settings);
    },
    stop: async () => {
      await Promise.all([server.stop(), db.close(), redis.close(), made.pool.close()]);
      redisAdmin.disconnect();
      objects.close();
    },
  };
}

export const objectsOf = (config: ServerConfig): Objects =>
  new Objects({
    endpoint: config.CARREL_S3_ENDPOINT,
    region: config.CARREL_S3_REGION,
    bucket: config.CARREL_S3_BUCKET,
    accessKeyId: config.CARREL_S3_ACCESS_KEY_ID,
    secretAccessKey: config.CARREL_S3_SECRET_ACCESS_KEY,
  });

export const newSlug = (): string => `t-${systemRandom.hex(5)}`;

const madeUp = (): RegisteredTenant => ({
  slug: newSlug(),
  tenantId: String(systemRandom.bytes(4).readUInt32BE() + 1),
  platformKeys: [{ id: 'test', key: systemRandom.bytes(32) }],
});

const TRIES = 6;

/** Retries as the operator does. Other tests may keep a shared store busy for longer than one try. */
async function untilThere(ensure: () => Promise<unknown>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await ensure();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || tried === TRIES) throw error;
    }
  }
}

/** Shards that this process has made ready. */
const readyShards = new Map<string, Promise<void>>();

function readyShard(shard: ShardAccess, url: string): Promise<void> {
  const ready = readyShards.get(url) ?? untilThere(() => ensureShard(shard));
  readyShards.set(url, ready);
  return ready;
}

/** The least that argon2 takes. */
const CHEAP_PASSWORDS: PasswordCost = { memoryCost: 8, timeCost: 1 };

/** Schema, role, Redis user, bucket and first administrator, through the operator's own functions. The caller closes the pool. */
async function provision(stores: StoreAddresses, { slug, tenantId, platformKeys }: RegisteredTenant, realPasswords: boolean) {
  const secret = systemRandom.base64url(24);
  const administrator = { email: `admin@${slug}.example.org`, password: systemRandom.base64url(12) };
  const bucket = { bucket: bucketName(slug), accessKeyId: slug, secretAccessKey: secret };

  const pool = new SqlPool({ url: stores.postgres.operator, poolSize: 4, log: silentLogger });
  const redisUsers = new RedisUsers({ url: stores.redis.adminUrl, log: silentLogger });
  const storage = new StorageAdmin(stores.s3);
  try {
    const shard = { pool, clock: systemClock, random: systemRandom };
    await readyShard(shard, stores.postgres.operator);
    await ensureTenantDatabase(shard, { slug, tenantId, password: secret, connections: 30 });
    await migrateTenant(shard, { slug, tenantId });
    await ensureAdministrator(shard, slug, {
      email: administrator.email,
      passwordHash: await new Passwords(realPasswords ? undefined : CHEAP_PASSWORDS).hash(administrator.password),
    });
    await untilThere(() => redisUsers.ensure({ slug, passwords: [secret] }));
    await untilThere(() => storage.ensureBucketWithUser(bucket));
  } catch (error) {
    await pool.close();
    throw error;
  } finally {
    await redisUsers.close();
  }

  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: `${slug}-1` };
  const env = {
    CARREL_TENANT_SLUG: slug,
    CARREL_TENANT_ID: tenantId,
    CARREL_DATABASE_URL: `postgres://${tenantRole(slug)}:${secret}@${stores.postgres.tenantAddress}/carrel`,
    CARREL_REDIS_URL: `redis://${redisUser(slug)}:${secret}@${stores.redis.address}`,
    CARREL_S3_ENDPOINT: stores.s3.endpoint,
    CARREL_S3_REGION: stores.s3.region,
    CARREL_S3_BUCKET: bucket.bucket,
    CARREL_S3_ACCESS_KEY_ID: bucket.accessKeyId,
    CARREL_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    CARREL_SIGNING_KEYS: JSON.stringify({ keys: [key] }),
    CARREL_DATA_KEYS: dataKeys(platformKeys, { tenantId, credentials: {} }),
    CARREL_EGRESS_ALLOW: '127.0.0.0/8',
  };
  return { slug, tenantId, administrator, env, pool };
}
