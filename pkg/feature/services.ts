import type { Sessions } from '../access/sessions.ts';
import type { Tokens } from '../access/tokens.ts';
import type { WebPages } from '../api/page.ts';
import type { Events } from '../events/events.ts';
import type { WorkerNotifier } from '../events/worker-notifier.ts';
import type { JobRequests } from '../events/job-requests.ts';
import type { GuardedClient } from '../net/client.ts';
import type { AllowedRange } from '../net/private-address.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { Sealer } from '../runtime/sealing.ts';
import type { Database } from '../store/postgres/database.ts';
import type { TaggedCache } from '../store/redis/tagged-cache.ts';
import type { SlidingLogLimiter } from '../store/redis/sliding-log-limiter.ts';
import type { Objects } from '../store/s3/objects.ts';
import type { Offboarding } from './offboarding.ts';

/** The services that a tenant's server passes to each feature. */
export interface TenantServices {
  readonly tenant: {
    readonly slug: string;
    /** Decimal string. */
    readonly id: string;
    /** The name that people use. */
    readonly name: string | undefined;
    /** `namespace/name` of its Tenant resource; undefined: the server does not know it. */
    readonly resource: string | undefined;
  };
  readonly addresses: TenantAddresses;
  readonly settings: TenantSettings;
  readonly db: Database;
  readonly objects: Objects;
  readonly cache: TaggedCache;
  readonly rateLimiter: SlidingLogLimiter;
  readonly events: Events;
  readonly jobs: JobRequests;
  readonly notifier: WorkerNotifier;
  readonly sessions: Sessions;
  readonly tokens: Tokens;
  readonly offboarding: Offboarding;
  /** Seals stored secrets under the tenant's data keys. */
  readonly sealer: Sealer;
  /** For addresses that the tenant's users name. */
  readonly client: GuardedClient;
  /** The browser's pages. */
  readonly web: WebPages;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Absolute, without a trailing slash. */
interface TenantAddresses {
  readonly appUrl: string;
  readonly ltiUrl: string;
  /** The REST API: `appUrl` and BASE_PATH. */
  readonly apiUrl: string;
}

/** Settings of the tenant's server that features read. */
export interface TenantSettings {
  readonly bucket: string;
  /** Bytes that a new user may store; undefined: the database's default. */
  readonly defaultQuota: number | undefined;
  /** The size limit of one file, in bytes. */
  readonly maxUploadBytes: number | undefined;
  /** The bytes that the tenant's tables may take; undefined: the server does not know. The operator holds the limit. */
  readonly maxDatabaseBytes: number | undefined;
  /** The requests that are admitted: of a user and of all together in a minute, of an address in an hour. */
  readonly requests: { readonly userPerMinute: number; readonly tenantPerMinute: number; readonly addressPerHour: number };
  /** The shortest time for which a deleted item can be restored. */
  readonly trashRetentionMs: number;
  /**
   * The old versions of a file that are kept: the number of the newest, the current one included, and the days after their
   * replacement; undefined: forever.
   */
  readonly versions: { readonly keep: number; readonly days?: number | undefined };
  /** Private address ranges that addresses named by the tenant's users may lead to. */
  readonly egressAllow: readonly AllowedRange[];
}
