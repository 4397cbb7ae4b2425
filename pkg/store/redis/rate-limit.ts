/** A rate limit: in any span of `windowSeconds` at most `max` calls are taken. */
export interface Limit {
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
}

/** A limit after a call. */
export interface LimitState {
  readonly limit: Limit;
  readonly remaining: number;
  /** Until one call is taken again; 0 when one is now. */
  readonly waitMs: number;
  /** When the whole limit is free again, in ms since the epoch. */
  readonly freeAt: number;
}

export interface Decision<State extends LimitState = LimitState> {
  readonly allowed: boolean;
  /** When refused, the limit that refuses longest; else the one with the fewest calls left. */
  readonly tightest: State;
}
