import type { Deployment } from '../../../kube/kinds.ts';
import { readGauge } from '../../../kube/metrics.ts';
import { keyOf, keyText, type ObjectKey, parseKey } from '../../../kube/object.ts';
import { findCondition } from '../../../kube/status.ts';
import type { Store } from '../../../kube/store.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Metrics } from '../../../runtime/metrics.ts';
import type { StepResult } from '../../conditions/runner.ts';
import type { ObservedTenant } from '../../kinds.ts';
import { availabilityOf, isRolledOut } from './availability.ts';
import { MAX_FAILING } from './max-failing.ts';
import { releaseIn, releaseOf, type ReleaseSettings } from './release.ts';

/** A free slot is passed on at once; this covers changes without a notification. */
const WAITING_RETRY_MS = 60_000;
const PAUSED_RETRY_MS = 15_000;

/** The time in which a new release must reach the API server; after that it counts as failed. */
const UNAPPLIED_MS = 300_000;
const METRIC = {
  name: 'carrel_rollout_tenants',
  help: 'Tenants whose rollout of a new image or new settings of the operator runs, waits or has failed.',
  labelNames: ['state' as const],
};
const FAILED = new Set(['RolloutFailed', 'PodsRefused']);

interface Slot {
  /** Monotonic. */
  readonly since: number;
  /** A failure of a tenant that did not serve before its rollout says nothing about the release. */
  readonly didServe: boolean;
}

interface Deps {
  readonly concurrency: number;
  readonly settings: ReleaseSettings;
  readonly deployments: Pick<Store<Deployment>, 'get' | 'list'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

type Waiting = Pick<StepResult<unknown>, 'reason' | 'message' | 'retryAfterMs'>;

/**
 * Brings a new release, that is image and settings of the operator's, to the pods of many tenants, a bounded number at a time.
 *
 * Invariants:
 * - No more tenants than `concurrency`, beside those that a person changed, have pods of two releases, also after a change of
 *   leader.
 * - When MAX_FAILING rollouts of tenants that served before have failed, no further one begins until one of these succeeds or its
 *   tenant is deleted; nor while rollouts are paused.
 * - What a person changes in a Tenant takes effect at once, and brings the new release with it. New and suspended tenants wait
 *   for nothing.
 */
export class Rollouts {
  readonly #deps: Deps;
  /** This operator's releases: for Tenants without an image of their own, and for those that name one. */
  readonly #releases: ReadonlySet<string>;
  readonly #rolling = new Map<string, Slot>();
  readonly #failing = new Set<string>();
  /** Waiting Tenants, in the order of their requests. */
  readonly #waiting = new Map<string, ObjectKey>();
  #enqueue: (key: ObjectKey) => void = () => undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#releases = new Set([{}, { image: '' }].map((spec) => releaseOf({ spec }, deps.settings)));
    readGauge(deps.metrics, METRIC, () => [
      [{ state: 'rolling' }, this.#rolling.size],
      [{ state: 'waiting' }, this.#waiting.size],
      [{ state: 'failing' }, this.#failing.size],
    ]);
  }

  /**
   * Starts as the new leader, whose copy of the Deployments has synced: Deployments of its release that are not ready yet are
   * being rolled out.
   */
  begin(enqueue: (key: ObjectKey) => void): void {
    const { deployments, clock } = this.#deps;
    for (const set of [this.#rolling, this.#failing, this.#waiting]) set.clear();
    this.#enqueue = enqueue;
    for (const deployment of deployments.list())
      if (this.#isOurs(deployment) && !isRolledOut(deployment))
        this.#rolling.set(keyText(keyOf(deployment)), slotOf(deployment, clock));
  }

  /**
   * Returns why the Deployment must not change for now. Returns undefined if it may change; if its release changes, it then has a
   * slot.
   */
  waitsFor(tenant: ObservedTenant, live: Deployment | undefined, isPaused: boolean): Waiting | undefined {
    const key = keyText(keyOf(tenant));
    if (!live || !isUpgrade(tenant, live, releaseOf(tenant, this.#deps.settings))) {
      this.#waiting.delete(key);
      return undefined;
    }
    const waits = this.#reasonToWait(key, isPaused);
    if (waits === undefined) {
      this.#waiting.delete(key);
      this.#rolling.set(key, this.#rolling.get(key) ?? slotOf(live, this.#deps.clock));
      return undefined;
    }
    this.#waiting.set(key, keyOf(tenant));
    const image = tenant.spec.image ?? this.#deps.settings.image;
    const what = imageIn(live) === image ? 'what changed in the settings of the operator' : image;
    return {
      ...waits,
      message: `${waits.message}, then ${what}; ${live.status?.readyReplicas ?? 0} of ${live.spec?.replicas ?? 1} pods are ready`,
    };
  }

  /** Checks the rollouts that have a slot, and passes on free slots. Called after each check of a Deployment. */
  settle(): void {
    const { deployments, clock } = this.#deps;
    for (const [key, { since, didServe }] of this.#rolling) {
      const live = deployments.get(parseKey(key));
      const isApplied = live !== undefined && this.#isOurs(live);
      if (live && !isApplied && clock.monotonic() - since < UNAPPLIED_MS) continue;
      const isFailed = live && (!isApplied || FAILED.has(availabilityOf(live, false).reason));
      if (isFailed && didServe) this.#failing.add(key);
      if (!live || isFailed || isRolledOut(live)) this.#rolling.delete(key);
    }
    for (const key of this.#failing) {
      const live = deployments.get(parseKey(key));
      if (!live || (this.#isOurs(live) && isRolledOut(live))) this.#failing.delete(key);
    }
    this.#passOn();
  }

  /** Removes a deleted tenant, so that it delays no other. */
  remove(tenant: ObservedTenant): void {
    const key = keyText(keyOf(tenant));
    for (const set of [this.#rolling, this.#failing, this.#waiting]) set.delete(key);
    this.settle();
  }

  #isOurs(deployment: Deployment): boolean {
    return this.#releases.has(releaseIn(deployment) ?? '');
  }

  #reasonToWait(key: string, isPaused: boolean): Waiting | undefined {
    if (this.#rolling.has(key)) return undefined;
    if (isPaused)
      return {
        reason: 'RolloutPaused',
        message: 'Waiting for carrel rollout resume, since rollouts are paused',
        retryAfterMs: PAUSED_RETRY_MS,
      };
    if (this.#failing.size >= MAX_FAILING && !this.#failing.has(key))
      return {
        reason: 'RolloutHalted',
        message: 'Waiting for halted rollouts to continue (they failed for several tenants; see their conditions)',
        retryAfterMs: WAITING_RETRY_MS,
      };
    if (this.#rolling.size < this.#deps.concurrency) return undefined;
    return {
      reason: 'RolloutWaits',
      message: `Waiting for one of the ${this.#deps.concurrency} rollouts that may run at once`,
      retryAfterMs: WAITING_RETRY_MS,
    };
  }

  /** Enqueues as many Tenants as there are free slots; each asks again and takes a slot, or waits. */
  #passOn(): void {
    const free = this.#deps.concurrency - this.#rolling.size;
    for (const key of [...this.#waiting.values()].slice(0, Math.max(0, free))) {
      this.#waiting.delete(keyText(key));
      this.#enqueue(key);
    }
  }
}

/**
 * Returns the slot of a rollout that a new leader finds. If the rollout failed, the former pods still serve: none of them ends
 * before a new one is ready.
 */
const slotOf = (deployment: Deployment, clock: Clock): Slot => ({
  since: clock.monotonic(),
  didServe: isRolledOut(deployment) || findCondition(deployment.status?.conditions, 'Available')?.status === 'True',
});

/** Returns whether the pods have another release and no person has changed the Tenant since. */
function isUpgrade({ spec, metadata, status }: ObservedTenant, live: Deployment, release: string): boolean {
  if (spec.suspended || live.spec?.replicas === 0 || releaseIn(live) === release) return false;
  return findCondition(status?.conditions, 'WorkloadAvailable')?.observedGeneration === metadata.generation;
}

export const imageIn = ({ spec }: Deployment): string => spec?.template.spec?.containers[0]?.image ?? '';
