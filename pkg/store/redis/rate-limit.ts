/** A rate limit: in any span of `windowSeconds` at most `max` calls are accepted. */
export interface Limit {
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
}

/** A limit after a call. */
export interface LimitState {
  readonly limit: Limit;
  readonly remaining: number;
  /** The wait until one call is accepted again; 0 if one is accepted now. */
  readonly waitMs: number;
  /** The time when the whole limit is free again, in ms since the epoch. */
  readonly freeAt: number;
}

export interface Decision<State extends LimitState = LimitState> {
  readonly allowed: boolean;
  /** If refused, the limit with the longest wait; otherwise the one with the fewest calls left. */
  readonly tightest: State;
}
