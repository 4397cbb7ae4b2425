import type { Counter, Gauge } from 'prom-client';
import type { EventRecorder } from '../../kube/events.ts';
import { LEASE, type Lease } from '../../kube/kinds.ts';
import { counter, gauge } from '../../kube/metrics.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { ResourceApi } from '../../kube/resource.ts';
import { sleepUnlessAborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Random } from '../../runtime/random.ts';
import type { SealingKey } from '../../runtime/sealing.ts';
import type { Shards } from '../shards.ts';
import { resealTenant, sealOf } from '../../tenantdata/sealed-values.ts';

interface Deps {
  readonly shards: Shards;
  /** The first seals, all open. */
  readonly platformKeys: readonly SealingKey[];
  /** How many tenants' servers may still seal with an older key. */
  readonly outdatedServers: () => number;
  readonly leases: ResourceApi<Lease>;
  /** The Lease of the operators: the Event is beside it. */
  readonly lease: ObjectKey;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Left out: 5 s. */
  readonly firstResealWaitMs?: number;
}

/** The first wait between two passes, and the longest. */
const WAIT_MS = { first: 5_000, most: 300_000 };

/**
 * While CARREL_PLATFORM_KEYS has older keys: seals with the first one what they sealed, in the registry and in every tenant's schema, retained data
 * included, until the older ones can be removed.
 *
 * - It ends when two passes in a row found nothing under an older key and no server seals with one. An Event at the Lease says so.
 * - A pass writes each value in a statement of its own and only over the value that it read: it may be stopped anywhere, and two operators may run it.
 * - A value that no key opens is logged and skipped.
 */
export class Resealing {
  readonly #deps: Deps;
  readonly #needed: Gauge;
  readonly #left: Gauge;
  readonly #resealed: Counter;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { metrics } = deps;
    this.#needed = gauge(metrics, 'carrel_older_platform_keys_needed', 'Older platform keys that values may still be sealed with.', []);
    this.#left = gauge(metrics, 'carrel_reseal_tenants_left', 'Tenants that the running pass of resealing has yet to look at.', []);
    this.#resealed = counter(metrics, 'carrel_resealed_values_total', 'Values that were sealed anew with the first platform key.', []);
    this.#needed.set(deps.platformKeys.length - 1);
    this.#resealed.inc(0);
  }

  /** Until it is over or the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { platformKeys, outdatedServers, clock, log, firstResealWaitMs = WAIT_MS.first } = this.#deps;
    if (platformKeys.length < 2) return;
    let waitMs = firstResealWaitMs;
    let cleanPasses = 0;
    while (!signal.aborted) {
      // A server of the former keys alone could not open what is sealed with the first one.
      const late = outdatedServers();
      if (late > 0) log.info({ servers: late }, 'resealing waits until all servers have the current platform keys');
      const isClean = late === 0 && (await this.#pass(signal).catch((error: unknown) => this.#failed(error, signal))) === 0;
      cleanPasses = isClean && outdatedServers() === 0 ? cleanPasses + 1 : 0;
      if (cleanPasses === 2) return this.#end(signal);
      waitMs = cleanPasses > 0 ? firstResealWaitMs : Math.min(waitMs * 2, WAIT_MS.most);
      await sleepUnlessAborted(clock, waitMs, signal);
    }
    log.debug('resealing stopped: leadership lost; the next leader continues');
  }

  /** How many values were sealed again. */
  async #pass(signal: AbortSignal): Promise<number> {
    const { shards, platformKeys, random, log } = this.#deps;
    const registry = await shards.registry();
    const tenants = (await registry.list()).filter(({ state }) => state !== 'deleting');
    this.#left.set(tenants.length);
    let { resealed, unopenable } = await registry.resealAll();
    this.#resealed.inc(resealed);
    for (const [index, tenant] of tenants.entries()) {
      const { slug } = tenant;
      const { pool } = await shards.open(tenant.shard);
      const found = await resealTenant(pool, sealOf(tenant, platformKeys, random), signal);
      if (found.unopenable > 0) log.warn({ tenant: slug, values: found.unopenable }, 'no platform key opens sealed values of a tenant');
      this.#resealed.inc(found.resealed);
      resealed += found.resealed;
      unopenable += found.unopenable;
      this.#left.set(tenants.length - index - 1);
    }
    log.info({ resealed, unopenable, tenants: tenants.length }, 'resealing: pass finished');
    return resealed;
  }

  #failed(error: unknown, signal: AbortSignal): undefined {
    if (!signal.aborted) this.#deps.log.warn({ err: error }, 'resealing failed; will retry');
  }

  async #end(signal: AbortSignal): Promise<void> {
    const { platformKeys, leases, lease, events, log } = this.#deps;
    const [first, ...older] = platformKeys.map(({ id }) => id);
    const message = `everything is sealed with platform key ${first}; ${older.join(', ')} can be removed from CARREL_PLATFORM_KEYS`;
    this.#needed.set(0);
    log.info({ key: first, older }, 'older platform keys are no longer needed');
    const object = await leases.find(lease, { signal }).catch(() => undefined);
    if (object) events.record(object, LEASE, { type: 'Normal', reason: 'PlatformKeysResealed', message });
  }
}
