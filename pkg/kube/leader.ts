import type { Gauge } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { isAlreadyExists, isConflict } from './errors.ts';
import { LEASE, type Lease } from './kinds.ts';
import { gauge } from './metrics.ts';
import type { Observed } from './object.ts';
import { ResourceApi } from './resource.ts';
import type { KubeClient } from './transport.ts';

interface LeaseTimes {
  /** Standbys wait this long after the last renewal that they saw. */
  readonly leaseMs: number;
  /** A leader that could not renew for this long stops leading. Less than `leaseMs`. */
  readonly renewDeadlineMs: number;
  /** The interval between renewals of the leader. */
  readonly retryMs: number;
  /**
   * The interval between looks of a standby. After a leader has stopped and released the lease, nobody may lead for this long.
   */
  readonly standbyMs: number;
}

/**
 * The times of client-go and controller-runtime are 15, 10 and 2 s. Their standbys also look every 2 s; ours take over within 2 s
 * of a leader that stops, although its reconciles may take a second to end.
 */
export const LEASE_TIMES: LeaseTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000, standbyMs: 500 };

/**
 * Elects one leader among several processes, by a Lease.
 *
 * Invariants:
 * - Two processes never lead at once, provided that their clocks run at about the same speed. Time is measured only on the local
 *   monotonic clock: the leader's from before its last successful renewal, the others' from when they saw it change.
 * - `lead`'s signal is aborted before another process can hold the lease. Leading ends when `lead` has returned, and only then is
 *   the lease released.
 */
export class LeaderElector {
  readonly #api: ResourceApi<Lease>;
  readonly #lease: { namespace: string; name: string };
  readonly #identity: string;
  readonly #times: LeaseTimes;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #status: Gauge<'name'>;
  /** The lease as of its last observed change, and the time of that. */
  #seen: { version: string; at: number } | undefined;
  #isLeader = false;

  /** `identity` must be unique among all processes that ever run: a host name and something random. */
  constructor(options: {
    client: KubeClient;
    namespace: string;
    name: string;
    identity: string;
    times?: LeaseTimes;
    clock: Clock;
    random: Random;
    log: Logger;
    metrics: Metrics;
  }) {
    this.#api = new ResourceApi(options.client, LEASE);
    this.#lease = { namespace: options.namespace, name: options.name };
    this.#identity = options.identity;
    this.#times = options.times ?? LEASE_TIMES;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#log = options.log.child({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    this.#status = gauge(options.metrics, 'leader_election_master_status', '1 while this process leads.', ['name']);
    this.#status.set({ name: options.name }, 0);
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /**
   * Stands by, and calls `lead` whenever it becomes the leader. Losing the leadership aborts `lead`'s signal, and it stands by
   * again. Ends when the signal is aborted or `lead` returns; throws what `lead` throws. The lease is released either way.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const acquiredAt = await this.#acquire(signal);
      if (acquiredAt === undefined) return;
      const isFinished = await this.#leadOnce(lead, signal, acquiredAt);
      if (isFinished) return;
    }
  }

  /** Returns true if it still led when `lead` ended. */
  async #leadOnce(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal, acquiredAt: number): Promise<boolean> {
    this.#setLeader(true);
    const leading = new AbortController();
    const onStop = (): void => leading.abort(signal.reason);
    if (signal.aborted) onStop();
    signal.addEventListener('abort', onStop, { once: true });
    const ended = new AbortController();
    const holding = this.#hold(acquiredAt, ended.signal).then((lost) => {
      if (lost) leading.abort(new Error('leadership was lost'));
      return lost;
    });
    try {
      await lead(leading.signal);
    } finally {
      signal.removeEventListener('abort', onStop);
      ended.abort();
      const lost = await holding;
      this.#setLeader(false);
      if (!lost) await this.#release();
    }
    return !(await holding);
  }

  /** Resolves when this instance holds the lease, with the time before the write; undefined if the signal is aborted. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    for (;;) {
      const startedAt = this.#clock.monotonic();
      const acquired = await this.#try(signal).catch((error: unknown) => this.#failed('acquire', error));
      if (acquired) return startedAt;
      if (signal.aborted || !(await this.#pause(this.#times.standbyMs, signal))) return undefined;
    }
  }

  /** Renews until `ended`; returns true if the lease was lost first. */
  async #hold(acquiredAt: number, ended: AbortSignal): Promise<boolean> {
    let renewedAt = acquiredAt;
    for (;;) {
      const leftMs = renewedAt + this.#times.renewDeadlineMs - this.#clock.monotonic();
      if (leftMs <= 0) return true;
      if (!(await this.#pause(this.#times.retryMs, ended, leftMs))) return false;
      const startedAt = this.#clock.monotonic();
      const deadline = this.#deadline(renewedAt + this.#times.renewDeadlineMs - startedAt, ended);
      try {
        if (!(await this.#try(deadline.signal))) return true;
        renewedAt = startedAt;
      } catch (error) {
        if (ended.aborted) return false;
        this.#failed('renew', error);
      } finally {
        deadline.clear();
      }
    }
  }

  /** Reads once and writes at most once. Returns false if another process holds the lease. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const timeoutMs = this.#times.renewDeadlineMs / 2;
    const lease = await this.#api.find(this.#lease, { signal, timeoutMs });
    try {
      if (!lease) {
        await this.#api.create(this.#mine(undefined), { signal, timeoutMs });
        return true;
      }
      if (!this.#mayTake(lease)) return false;
      await this.#api.update(this.#mine(lease), { signal, timeoutMs });
      return true;
    } catch (error) {
      // Another process was faster; the next read shows whether the lease is lost.
      if (isConflict(error) || isAlreadyExists(error)) return this.#isLeader ? this.#isStillMine(signal) : false;
      throw error;
    }
  }

  async #isStillMine(signal: AbortSignal): Promise<boolean> {
    const lease = await this.#api.find(this.#lease, { signal, timeoutMs: this.#times.renewDeadlineMs / 2 });
    if (lease?.spec?.holderIdentity === this.#identity) throw new Error('another client wrote the lease; trying again');
    return false;
  }

  #mayTake(lease: Observed<Lease>): boolean {
    const holder = lease.spec?.holderIdentity;
    if (holder === this.#identity || !holder) return true;
    if (this.#isLeader) return false;
    const version = lease.metadata.resourceVersion;
    if (this.#seen?.version !== version) this.#seen = { version, at: this.#clock.monotonic() };
    const leaseMs = Math.max((lease.spec?.leaseDurationSeconds ?? 0) * 1000, 1_000);
    return this.#clock.monotonic() - this.#seen.at > leaseMs;
  }

  #mine(lease: Observed<Lease> | undefined): Lease {
    const now = microTime(this.#clock.now());
    const isRenewal = lease?.spec?.holderIdentity === this.#identity;
    const transitions = lease?.spec?.leaseTransitions ?? 0;
    return {
      metadata: lease?.metadata ?? { ...this.#lease },
      spec: {
        ...lease?.spec,
        holderIdentity: this.#identity,
        leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1000),
        acquireTime: isRenewal ? (lease.spec?.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: isRenewal || !lease ? transitions : transitions + 1,
      },
    };
  }

  /** Releases the lease, so that the next leader need not wait. Best effort: the lease also expires. */
  async #release(): Promise<void> {
    try {
      const timeoutMs = this.#times.retryMs;
      const lease = await this.#api.find(this.#lease, { timeoutMs });
      if (lease?.spec?.holderIdentity !== this.#identity) return;
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(this.#clock.now()) };
      await this.#api.update({ ...lease, spec }, { timeoutMs });
    } catch (error) {
      this.#failed('release', error);
    }
  }

  /** Waits for about `aboutMs`, at most `mostMs`; returns false if the signal is aborted. */
  async #pause(aboutMs: number, signal: AbortSignal, mostMs = Infinity): Promise<boolean> {
    const ms = aboutMs * (1 + 0.2 * this.#random.fraction());
    return this.#clock.sleep(Math.min(ms, mostMs), signal).then(
      () => true,
      () => false,
    );
  }

  #deadline(ms: number, also: AbortSignal): { signal: AbortSignal; clear: () => void } {
    const aborter = new AbortController();
    const cleared = new AbortController();
    void this.#clock.sleep(Math.max(ms, 0), AbortSignal.any([cleared.signal, also])).then(
      () => aborter.abort(new Error('the lease was not renewed in time')),
      () => (also.aborted ? aborter.abort(also.reason) : undefined),
    );
    return { signal: aborter.signal, clear: () => cleared.abort() };
  }

  #setLeader(isLeader: boolean): void {
    this.#isLeader = isLeader;
    this.#status.set({ name: this.#lease.name }, isLeader ? 1 : 0);
    this.#log.info(isLeader ? 'acquired leadership' : 'lost leadership');
  }

  #failed(what: string, error: unknown): false {
    this.#log.warn({ err: error }, `could not ${what} the lease`);
    return false;
  }
}

/** `metav1.MicroTime`: exactly six digits of a second. */
export const microTime = (time: Date): string => time.toISOString().replace(/\.(\d{3})Z$/, '.$1000Z');
