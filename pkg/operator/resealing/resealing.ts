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
import type { RegisteredTenant } from '../../store/postgres/registry.ts';
import type { Shards } from '../shards.ts';
import { resealTenant, sealOf } from '../../tenantdata/sealed-columns.ts';

interface Deps {
  readonly shards: Shards;
  /** The first seals, all open. */
  readonly platformKeys: readonly SealingKey[];
  /** Slugs of the tenants whose servers may not have the present keys. */
  readonly outdatedServers: () => ReadonlySet<string>;
  readonly leases: ResourceApi<Lease>;
  /** The Lease of the operators: the Event is beside it. */
  readonly lease: ObjectKey;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The wait before the second pass. Default: 5 s. */
  readonly firstResealWaitMs?: number;
}

/** The first and the longest wait between two passes. */
const WAIT_MS = { first: 5_000, most: 300_000 };
/** The most values of one tenant that a pass reseals, since a tenant decides how many it has. */
const MOST_VALUES = 10_000;
/** The most tenants that one log line names. */
const NAMED = 20;

/**
 * While CARREL_PLATFORM_KEYS has older keys: seals with the first one what they sealed, in the registry and in every tenant's
 * schema, retained data included, until the older ones can be removed.
 *
 * - It ends when two passes in a row found nothing under an older key and no server seals with one. An Event at the Lease says
 *   so.
 * - A tenant whose servers do not have the keys yet, or whose schema cannot be written, holds up the end and no other tenant; the
 *   log names it.
 * - A pass writes each value in a statement of its own and only over the value that it read: it may be stopped anywhere, and two
 *   operators may run it.
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
    this.#needed = gauge(
      metrics,
      'carrel_older_platform_keys_needed',
      'Older platform keys that values may still be sealed with.',
      [],
    );
    this.#left = gauge(
      metrics,
      'carrel_reseal_tenants_left',
      'Tenants that the running pass of resealing has yet to look at.',
      [],
    );
    this.#resealed = counter(
      metrics,
      'carrel_resealed_values_total',
      'Values that were resealed with the first platform key.',
      [],
    );
    // A standby cannot know more. The leader sets it to 0 once older keys are no longer needed.
    this.#needed.set(deps.platformKeys.length - 1);
    this.#resealed.inc(0);
  }

  /** Runs passes until resealing is finished or the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { platformKeys, outdatedServers, log, firstResealWaitMs = WAIT_MS.first } = this.#deps;
    if (platformKeys.length < 2) return;
    let waitMs = firstResealWaitMs;
    let cleanPasses = 0;
    while (!signal.aborted) {
      const isClean = await this.#pass(signal).catch((error: unknown) => this.#failed(error, signal));
      cleanPasses = isClean && outdatedServers().size === 0 ? cleanPasses + 1 : 0;
      if (cleanPasses === 2) return this.#end(signal);
      waitMs = cleanPasses > 0 ? firstResealWaitMs : Math.min(waitMs * 2, WAIT_MS.most);
      await this.#pause(waitMs, signal);
    }
    log.debug('resealing stopped: leadership lost; the next leader continues');
  }

  /** Waits, and ends early once all servers have the present keys. */
  async #pause(waitMs: number, signal: AbortSignal): Promise<void> {
    const { outdatedServers, clock, firstResealWaitMs = WAIT_MS.first } = this.#deps;
    const wereOutdated = outdatedServers().size > 0;
    for (let waited = 0; waited < waitMs && !signal.aborted; waited += firstResealWaitMs) {
      await sleepUnlessAborted(clock, firstResealWaitMs, signal);
      if (wereOutdated && outdatedServers().size === 0) return;
    }
  }

  /** Returns whether it checked every value and had nothing to reseal. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    const { shards, outdatedServers, log } = this.#deps;
    const registry = await shards.registry();
    const tenants = (await registry.list()).filter(({ state }) => state !== 'deleting');
    // A server with only the former keys could not open values that are sealed with the first one.
    const outdated = outdatedServers();
    if (outdated.size > 0)
      log.info(
        { tenants: [...outdated].slice(0, NAMED), count: outdated.size },
        'values of these tenants are resealed when their servers have the present platform keys',
      );
    let { resealed } = await registry.resealAll();
    this.#resealed.inc(resealed);
    const failed: string[] = [];
    for (const [index, tenant] of tenants.entries()) {
      this.#left.set(tenants.length - index);
      if (outdated.has(tenant.slug)) continue;
      const found = await this.#resealTenant(tenant, signal);
      if (found === undefined) failed.push(tenant.slug);
      else resealed += found;
    }
    this.#left.set(0);
    log.info({ resealed, outdated: outdated.size, failed: failed.length, tenants: tenants.length }, 'resealing: pass finished');
    return resealed === 0 && outdated.size === 0 && failed.length === 0;
  }

  /** Returns the number of resealed values, or undefined if the tenant's schema could not be read or written. */
  async #resealTenant(tenant: RegisteredTenant, signal: AbortSignal): Promise<number | undefined> {
    const { shards, platformKeys, random, log } = this.#deps;
    try {
      const { pool } = await shards.open(tenant.shard);
      const { resealed, unopenable } = await resealTenant(pool, sealOf(tenant, platformKeys, random), {
        signal,
        most: MOST_VALUES,
      });
      if (unopenable > 0)
        log.warn({ tenant: tenant.slug, values: unopenable }, 'no platform key opens sealed values of a tenant');
      this.#resealed.inc(resealed);
      return resealed;
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error, tenant: tenant.slug }, 'could not reseal values of a tenant; will retry');
      return undefined;
    }
  }

  #failed(error: unknown, signal: AbortSignal): false {
    if (!signal.aborted) this.#deps.log.warn({ err: error }, 'resealing failed; will retry');
    return false;
  }

  async #end(signal: AbortSignal): Promise<void> {
    const { platformKeys, leases, lease, events, log } = this.#deps;
    const [first, ...older] = platformKeys.map(({ id }) => id);
    const removable = older.join(', ');
    const message = `everything is sealed with platform key ${first}; ${removable} can be removed from CARREL_PLATFORM_KEYS`;
    this.#needed.set(0);
    log.info({ key: first, older }, 'older platform keys are no longer needed');
    const object = await leases.find(lease, { signal }).catch(() => undefined);
    if (object) events.record(object, LEASE, { type: 'Normal', reason: 'PlatformKeysResealed', message });
  }
}
