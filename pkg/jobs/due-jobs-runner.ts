import type { JobHandler } from '../events/processor.ts';
import { Batcher } from '../runtime/batcher.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Leased, LeaseRequest } from '../store/postgres/leases.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { type Lane, Lanes, type TenantLanes, type Waiting } from './lanes.ts';
import { LEASE_SECONDS, LeaseRenewer, RENEW_MS } from './lease-renewer.ts';

/** The rows and attempts of one tenant in this worker. */
interface Held<Row extends Leased> {
  readonly tenant: string;
  readonly lanes: TenantLanes<Row>;
  attempts: number;
  /** Attempts that have ended and whose outcomes are being written. */
  unwritten: number;
  isLeasing: boolean;
  /** Slots that were requested while rows were being leased. */
  wanted: number;
  /** The last lease got all that it asked for, so more may be due. */
  mayHaveMore: boolean;
}

/**
 * Leases due rows of one shard's tenants and attempts them.
 *
 * Invariants:
 * - An attempt runs only under its own lease. A worker that lost the lease can neither finish nor fail the row.
 * - An attempt that ended releases its slot while its outcome is being written, for at most `ahead` outcomes of a tenant.
 * - A tenant with more due rows continues on its own only while slots are plenty. When slots are scarce, its waiting rows are
 *   released, and it waits for its turn like every tenant.
 */
export class DueJobsRunner<Row extends Leased> {
  readonly #handler: JobHandler<Row>;
  readonly #limiter: ConcurrencyLimiter;
  readonly #ahead: number;
  readonly #onRelease: () => void;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lanes: Lanes<Row>;
  readonly #leases: Batcher<LeaseRequest, Row[]>;
  readonly #renewer: LeaseRenewer;
  readonly #held = new Map<string, Held<Row>>();
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: {
    handler: JobHandler<Row>;
    /** Its limit per tenant bounds the attempts of one tenant at once: a backlog delays only its own tenant. */
    limiter: ConcurrencyLimiter;
    /** The value of QueueSettings. */
    ahead: number;
    /** Slots of a tenant that none of its lanes takes. */
    spared: number;
    /** A slot is free for any tenant, or a tenant has leased its share and may have more. */
    onRelease: () => void;
    clock: Clock;
    log: Logger;
  }) {
    this.#handler = deps.handler;
    this.#limiter = deps.limiter;
    this.#ahead = deps.ahead;
    this.#onRelease = deps.onRelease;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#lanes = new Lanes(deps.handler, () => Math.max(1, deps.limiter.tenantLimit - deps.spared));
    this.#leases = new Batcher((requests: readonly LeaseRequest[]) => this.#lease(requests));
    this.#renewer = new LeaseRenewer({ store: deps.handler.store, seconds: LEASE_SECONDS, everyMs: RENEW_MS, log: deps.log });
  }

  /**
   * Leases due rows of the tenant and begins their attempts, at most `slots` at once and as many as the tenant may have. Never
   * throws: the next sweep finds rows whose lease failed.
   */
  async take(tenant: string, slots: number): Promise<void> {
    const held = this.#heldOf(tenant);
    held.wanted = Math.max(held.wanted, slots);
    if (held.isLeasing) return;
    held.isLeasing = true;
    try {
      while (held.wanted > 0) {
        const wanted = held.wanted;
        held.wanted = 0;
        await this.#leaseFor(held, wanted);
      }
    } catch (error) {
      this.#log.warn({ err: error, tenant }, 'could not lease due jobs; the next sweep retries');
    } finally {
      held.isLeasing = false;
      this.#leaveNoneWaiting(held);
      this.#drop(held);
    }
  }

  /** Leases nothing more, and releases rows without an attempt. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#held.values()].map((held) => this.#releaseWaiting(held)));
  }

  /** Resolves when no attempt is running. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #leaseFor(held: Held<Row>, wanted: number): Promise<void> {
    const { tenant } = held;
    if (this.#isStopped) return;
    const slots = this.#limiter.reserve(tenant, wanted);
    let begun = 0;
    try {
      const most = slots + this.#roomAhead(held, slots);
      held.mayHaveMore = true;
      if (most === 0) return;
      const rows = await this.#leases.submit({
        tenant,
        most,
        held: held.attempts + held.unwritten + held.lanes.waiting,
        ...held.lanes.request(this.#ahead),
      });
      held.mayHaveMore = rows.length >= most;
      for (const row of rows) held.lanes.add({ row, lease: this.#renewer.renew(row) });
      while (!this.#isStopped && begun < slots && this.#begin(held)) begun += 1;
    } finally {
      this.#limiter.release(tenant, slots - begun);
    }
    if (this.#isStopped) await this.#releaseWaiting(held);
    else if (wanted === Infinity) this.#beginWaiting(held);
    else if (held.mayHaveMore && begun === wanted) this.#onRelease();
  }

  /**
   * Returns the number of rows to lease without a slot. It is positive only for a tenant at its limit, while slots are plenty.
   */
  #roomAhead({ attempts, lanes }: Held<Row>, slots: number): number {
    const isFull = attempts + slots >= this.#limiter.tenantLimit;
    return isFull && !this.#limiter.isScarce ? Math.max(0, this.#ahead - lanes.waiting) : 0;
  }

  async #lease(requests: readonly LeaseRequest[]): Promise<Row[][]> {
    const rows = await this.#handler.store.lease(requests, { perTenant: this.#limiter.tenantLimit, seconds: LEASE_SECONDS });
    const byTenant = Map.groupBy(rows, ({ tenant }) => tenant);
    return requests.map(({ tenant }) => byTenant.get(tenant) ?? []);
  }

  /**
   * Begins an attempt of the row that has waited longest, of the lanes that have a slot. The caller has reserved a slot of the
   * tenant. Returns false if no such row waits.
   */
  #begin(held: Held<Row>): boolean {
    const lane = held.lanes.next();
    if (!lane) return false;
    held.attempts += 1;
    this.#run(this.#attempt(held, lane, held.lanes.begin(lane)));
    return true;
  }

  /** Never throws: the outcome of a row is written in Postgres, or the row is leased again once its lease has expired. */
  async #attempt(held: Held<Row>, lane: Lane<Row>, { row, lease }: Waiting<Row>): Promise<void> {
    let writing: Promise<void> | undefined;
    let isSuccess = false;
    const began = this.#clock.monotonic();
    try {
      const unwritten = lease.isLost ? undefined : await this.#handler.attempt(row, lease.lost);
      isSuccess = unwritten !== undefined;
      if (unwritten && held.unwritten < this.#ahead) writing = unwritten.written;
      else await unwritten?.written;
    } catch (error) {
      this.#logFailure(row, error);
    } finally {
      if (writing) this.#run(this.#finishWriting(held, { row, lease }, writing));
      else lease.release();
      held.attempts -= 1;
      this.#limiter.release(held.tenant);
      // The lane's other rows are leased again one by one.
      if (held.lanes.end(lane, { isSuccess, ms: this.#clock.monotonic() - began })) this.#run(this.#releaseWaiting(held, lane));
      this.#goOn(held);
    }
  }

  async #finishWriting(held: Held<Row>, { row, lease }: Waiting<Row>, writing: Promise<void>): Promise<void> {
    held.unwritten += 1;
    try {
      await writing;
    } catch (error) {
      this.#logFailure(row, error);
    } finally {
      lease.release();
      held.unwritten -= 1;
      this.#drop(held);
    }
  }

  #logFailure({ tenant, id, attempts }: Row, error: unknown): void {
    this.#log.warn({ err: error, tenant, id, attempts }, 'attempt failed; the job is retried when its lease expires');
  }

  /** Continues with the tenant after an attempt released its slot. */
  #goOn(held: Held<Row>): void {
    const { tenant, lanes } = held;
    if (this.#isStopped || this.#limiter.isScarce) {
      this.#run(this.#releaseWaiting(held).then(this.#onRelease));
      return;
    }
    this.#beginWaiting(held);
    if (held.mayHaveMore && lanes.waiting <= this.#ahead / 2) this.#run(this.take(tenant, Infinity));
    else if (!held.mayHaveMore && lanes.waiting === 0) this.#onRelease();
    this.#drop(held);
  }

  #beginWaiting(held: Held<Row>): void {
    while (held.lanes.next() && this.#limiter.reserve(held.tenant, 1) === 1) this.#begin(held);
  }

  /**
   * Waiting rows continue when an attempt of their tenant ends. If none is running, begins them here, or releases them for lack
   * of a slot.
   */
  #leaveNoneWaiting(held: Held<Row>): void {
    if (held.attempts > 0 || held.lanes.waiting === 0) return;
    if (!this.#isStopped) this.#beginWaiting(held);
    if (held.attempts === 0) this.#run(this.#releaseWaiting(held).then(this.#onRelease));
  }

  /** Releases the waiting rows, of one lane or of all. */
  async #releaseWaiting(held: Held<Row>, lane?: Lane<Row>): Promise<void> {
    const waiting = held.lanes.release(lane);
    for (const { lease } of waiting) lease.release();
    const rows = waiting.map(({ row }) => row);
    try {
      if (rows.length > 0) await this.#handler.store.release(rows);
    } catch (error) {
      this.#log.warn({ err: error, tenant: held.tenant }, 'could not release leases; the jobs are retried when they expire');
    }
    this.#drop(held);
  }

  #run(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  #heldOf(tenant: string): Held<Row> {
    const known = this.#held.get(tenant);
    if (known) return known;
    const held: Held<Row> = {
      tenant,
      lanes: this.#lanes.forTenant(tenant),
      attempts: 0,
      unwritten: 0,
      isLeasing: false,
      wanted: 0,
      mayHaveMore: true,
    };
    this.#held.set(tenant, held);
    return held;
  }

  /** Removes a tenant that has nothing left here. */
  #drop(held: Held<Row>): void {
    const { tenant, attempts, unwritten, lanes, isLeasing } = held;
    if (attempts > 0 || unwritten > 0 || lanes.waiting > 0 || isLeasing) return;
    // The tenant may have been added again while leases were being released.
    if (this.#held.get(tenant) === held) this.#held.delete(tenant);
  }
}
