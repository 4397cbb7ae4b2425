import { LRUCache } from 'lru-cache';
import type { JobHandler } from '../events/processor.ts';
import type { Leased, LeaseRequest } from '../store/postgres/leases.ts';
import type { RenewedLease } from './lease-renewer.ts';

/** A lane whose attempt fails after this long is stalled until one of its attempts succeeds, or fails sooner. */
const STALLED_MS = 1_000;
/** Number of stalled lanes to remember. */
const STALLED_MAX = 10_000;
/** The only lane of a queue whose handler does not use lanes; it has no limit of its own. */
const ONLY = '';

/** A leased row without an attempt so far. */
export interface Waiting<Row> {
  readonly row: Row;
  readonly lease: RenewedLease;
}

/** The rows of a tenant that are for one receiver (`JobHandler.laneOf`). */
export interface Lane<Row> {
  readonly name: string;
  /** First in, first out. `order` compares rows of different lanes. */
  readonly waiting: { readonly order: number; readonly waiting: Waiting<Row> }[];
  attempts: number;
  isStalled: boolean;
}

/**
 * The lanes of all tenants of a queue, and which of them are stalled.
 *
 * Invariant: no lane takes all slots of its tenant, and a stalled lane takes one of them. A slow receiver delays no other.
 */
export class Lanes<Row extends Leased> {
  readonly #laneOf: (row: Row) => string;
  readonly #limit: () => number;
  readonly #hasLanes: boolean;
  readonly #stalled = new LRUCache<string, true>({ max: STALLED_MAX });

  /** `limit` returns the number of attempts that a lane may have at once at present. */
  constructor(handler: Pick<JobHandler<Row>, 'laneOf'>, limit: () => number) {
    this.#hasLanes = handler.laneOf !== undefined;
    this.#laneOf = (row) => handler.laneOf?.(row) ?? ONLY;
    this.#limit = this.#hasLanes ? limit : () => Infinity;
  }

  forTenant(tenant: string): TenantLanes<Row> {
    const keyOf = (lane: string): string => `${tenant} ${lane}`;
    return new TenantLanes({
      hasLanes: this.#hasLanes,
      laneOf: this.#laneOf,
      limit: this.#limit,
      isStalled: (lane) => this.#stalled.has(keyOf(lane)),
      note: (lane, isStalled) => void (isStalled ? this.#stalled.set(keyOf(lane), true) : this.#stalled.delete(keyOf(lane))),
    });
  }
}

interface TenantLanesDeps<Row> {
  readonly hasLanes: boolean;
  laneOf(row: Row): string;
  limit(): number;
  isStalled(lane: string): boolean;
  note(lane: string, isStalled: boolean): void;
}

/**
 * The lanes of one tenant that have rows waiting or attempts running. The cost of each step grows with the number of lanes, not
 * of rows.
 */
export class TenantLanes<Row extends Leased> {
  readonly #deps: TenantLanesDeps<Row>;
  readonly #lanes = new Map<string, Lane<Row>>();
  #added = 0;
  #waiting = 0;

  constructor(deps: TenantLanesDeps<Row>) {
    this.#deps = deps;
  }

  /** The number of rows that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  add(waiting: Waiting<Row>): void {
    this.#laneOf(waiting.row).waiting.push({ order: (this.#added += 1), waiting });
    this.#waiting += 1;
  }

  /** Returns the lane whose first row has waited longest, of the lanes that may begin an attempt. */
  next(): Lane<Row> | undefined {
    let next: Lane<Row> | undefined;
    for (const lane of this.#lanes.values()) {
      const [first] = lane.waiting;
      if (first === undefined || this.#isFull(lane)) continue;
      const [best] = next?.waiting ?? [];
      if (best === undefined || first.order < best.order) next = lane;
    }
    return next;
  }

  /** Returns the first row of the lane, whose attempt begins. */
  begin(lane: Lane<Row>): Waiting<Row> {
    const first = lane.waiting.shift();
    if (!first) throw new Error(`no row of lane ${lane.name} waits`);
    this.#waiting -= 1;
    lane.attempts += 1;
    return first.waiting;
  }

  /** Ends an attempt of the lane that took `ms`. Returns true when this stalls the lane. */
  end(lane: Lane<Row>, { isSuccess, ms }: { isSuccess: boolean; ms: number }): boolean {
    const wasStalled = lane.isStalled;
    lane.attempts -= 1;
    lane.isStalled = this.#deps.hasLanes && !isSuccess && ms >= STALLED_MS;
    if (lane.isStalled !== wasStalled) this.#deps.note(lane.name, lane.isStalled);
    this.#drop(lane);
    return lane.isStalled && !wasStalled;
  }

  /** Removes the rows that wait, of one lane or of all, and returns them. */
  release(only?: Lane<Row>): Waiting<Row>[] {
    return (only ? [only] : [...this.#lanes.values()]).flatMap((lane) => {
      const rows = lane.waiting.splice(0).map(({ waiting }) => waiting);
      this.#waiting -= rows.length;
      this.#drop(lane);
      return rows;
    });
  }

  /** Returns the lanes to lease last and those to lease nothing from, if at most `ahead` rows of a lane may wait. */
  request(ahead: number): Pick<LeaseRequest, 'last' | 'none'> {
    if (!this.#deps.hasLanes) return {};
    const full = [...this.#lanes.values()].filter((lane) => this.#isFull(lane));
    const mayWait = (lane: Lane<Row>): boolean => !lane.isStalled && lane.waiting.length < ahead;
    const names = (lanes: readonly Lane<Row>[]): string[] => lanes.map(({ name }) => name);
    return { last: names(full.filter(mayWait)), none: names(full.filter((lane) => !mayWait(lane))) };
  }

  #isFull(lane: Lane<Row>): boolean {
    return lane.attempts > 0 && lane.attempts >= (lane.isStalled ? 1 : this.#deps.limit());
  }

  #laneOf(row: Row): Lane<Row> {
    const name = this.#deps.laneOf(row);
    const known = this.#lanes.get(name);
    if (known) return known;
    const lane: Lane<Row> = { name, waiting: [], attempts: 0, isStalled: this.#deps.isStalled(name) };
    this.#lanes.set(name, lane);
    return lane;
  }

  /** Removes a lane without rows. `Lanes` remembers a stalled one. */
  #drop(lane: Lane<Row>): void {
    if (lane.attempts === 0 && lane.waiting.length === 0 && this.#lanes.get(lane.name) === lane) this.#lanes.delete(lane.name);
  }
}
