import type { ObjectKey } from '../kube/object.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Reconcile } from '../kube/controller.ts';
import type { Source } from '../kube/sources.ts';
import type { KubeClient } from '../kube/transport.ts';
import type { AllowedRange } from '../net/private-address.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import type { SealingKey } from '../runtime/sealing.ts';
import type { StorageAdmin } from '../store/s3/admin.ts';
import type { Informers } from './informers.ts';
import type { Secrets } from './secrets.ts';
import type { OperatorSettings } from './settings.ts';
import type { Shards } from './shards.ts';
import type { TenantAccess } from './tenant-rows.ts';
import type { TenantRedis } from './tenant/redis/redis-users.ts';

export interface OperatorDeps {
  readonly settings: OperatorSettings;
  readonly client: KubeClient;
  readonly shards: Shards;
  readonly redis: TenantRedis;
  /** Undefined: the platform creates no buckets, and tenants name their own. */
  readonly storage: StorageAdmin | undefined;
  readonly platformKeys: readonly SealingKey[];
  /** The Lease with which operators elect their leader. */
  readonly lease: ObjectKey;
  /** Identifies the operator that writes an Event. */
  readonly instance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The interval between two polls of a shard for changes. Default: 5 s. */
  readonly shardPollMs?: number;
  /** The wait before the second pass of resealing. Default: 5 s. */
  readonly firstResealWaitMs?: number;
  /** The intervals at which usage is checked, counted and measured. Defaults: 30 s, an hour, 5 minutes. */
  readonly usageIntervals?: { readonly searchMs: number; readonly everyMs: number; readonly measureMs?: number };
}

/** The dependencies that the controllers share. */
export interface ControllerDeps extends OperatorDeps {
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly access: TenantAccess;
  readonly secrets: Secrets;
  readonly egressAllow: readonly AllowedRange[];
}

/** A controller before it runs. */
export interface ControllerSetup {
  /** Label of its metrics and logs. */
  readonly name: string;
  readonly concurrency: number;
  readonly reconciler: { reconcile: Reconcile };
  /** The changes after which a key is reconciled. */
  readonly sources: readonly Source[];
}
