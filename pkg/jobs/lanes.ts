import { LRUCache } from 'lru-cache';
import type { JobHandler } from '../events/processor.ts';
import type { Leased, LeaseRequest } from '../store/postgres/leases.ts';

/** A lane whose attempt has failed after so long is stalled until one of its attempts succeeds, or fails sooner. */
const STALLED_MS = 1_000;
/** Stalled lanes that are remembered. */
const STALLED_MAX = 10_000;

/**
 * What the rows of a tenant are for, where they are for several (`JobHandler.laneOf`), and how many attempts each of these may
 * have at once.
 *
 * Invariant: no lane takes all slots of its tenant, and a stalled one takes one of them. So what one lane waits for delays no
 * other.
 */
export class Lanes<Row extends Leased> {
  readonly #laneOf: ((row: Row) => string) | undefined;
  readonly #limit: () => number;
  readonly #stalled = new LRUCache<string, true>({ max: STALLED_MAX });

  /** `limit`: how many attempts a lane may have at once at present. */
  constructor(handler: Pick<JobHandler<Row>, 'laneOf'>, limit: () => number) {
    this.#laneOf = handler.laneOf && ((row) => handler.laneOf?.(row) ?? '');
    this.#limit = limit;
  }

  /** One tenant's. */
  ofTenant(tenant: string): TenantLanes<Row> {
    const keyOf = (lane: string): string => `${tenant} ${lane}`;
    return new TenantLanes({
      laneOf: this.#laneOf,
      limitOf: (lane) => (this.#stalled.has(keyOf(lane)) ? 1 : this.#limit()),
      isStalled: (lane) => this.#stalled.has(keyOf(lane)),
      note: (lane, isStalled) => void (isStalled ? this.#stalled.set(keyOf(lane), true) : this.#stalled.delete(keyOf(lane))),
    });
  }
}

interface TenantLanesDeps<Row> {
  readonly laneOf: ((row: Row) => string) | undefined;
  limitOf(lane: string): number;
  isStalled(lane: string): boolean;
  note(lane: string, isStalled: boolean): void;
}

export class TenantLanes<Row extends Leased> {
  readonly #deps: TenantLanesDeps<Row>;
  readonly #attempts = new Map<string, number>();

  constructor(deps: TenantLanesDeps<Row>) {
    this.#deps = deps;
  }

  /** Whether an attempt of its lane may begin. */
  mayBegin(row: Row): boolean {
    const lane = this.#deps.laneOf?.(row);
    return lane === undefined || (this.#attempts.get(lane) ?? 0) < this.#deps.limitOf(lane);
  }

  begin(row: Row): void {
    this.#count(row, 1);
  }

  /** The attempt is over after `ms`. True: its lane is stalled from now on. */
  end(row: Row, { isSuccess, ms }: { isSuccess: boolean; ms: number }): boolean {
    this.#count(row, -1);
    const lane = this.#deps.laneOf?.(row);
    if (lane === undefined) return false;
    const wasStalled = this.#deps.isStalled(lane);
    const isStalled = !isSuccess && ms >= STALLED_MS;
    if (isStalled !== wasStalled) this.#deps.note(lane, isStalled);
    return isStalled && !wasStalled;
  }

  isSame(row: Row, other: Row): boolean {
    return this.#deps.laneOf?.(row) === this.#deps.laneOf?.(other);
  }

  /** Which lanes are leased last, and which not at all, while these rows wait, `ahead` of one lane at most. */
  request(waiting: readonly Row[], ahead: number): Pick<LeaseRequest, 'last' | 'none'> {
    const { laneOf, limitOf, isStalled } = this.#deps;
    if (!laneOf) return {};
    const waits = Map.groupBy(waiting, laneOf);
    const lanes = new Set([...waits.keys(), ...this.#attempts.keys()]);
    const isFull = (lane: string): boolean => (this.#attempts.get(lane) ?? 0) >= limitOf(lane);
    const mayWait = (lane: string): boolean => !isStalled(lane) && (waits.get(lane)?.length ?? 0) < ahead;
    const full = [...lanes].filter(isFull);
    return { last: full.filter(mayWait), none: full.filter((lane) => !mayWait(lane)) };
  }

  #count(row: Row, by: 1 | -1): void {
    const lane = this.#deps.laneOf?.(row);
    if (lane === undefined) return;
    const attempts = (this.#attempts.get(lane) ?? 0) + by;
    if (attempts > 0) this.#attempts.set(lane, attempts);
    else this.#attempts.delete(lane);
  }
}
