import type { Logger } from './log.ts';

/** The values of OTEL_TRACES_SAMPLER (OpenTelemetry, General SDK Configuration). */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The endpoint of traces, and the sampler that selects them. */
export interface TraceRequest {
  readonly endpoint: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** 0 to 1, for the samplers by ratio. */
  readonly ratio: number;
}

export interface TraceOptions {
  /** server or worker. */
  readonly program: string;
  /** Attributes of all spans of the process. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** False: the parents of root spans come from strangers, so their sampling decision is ignored. */
  readonly trustsParents: boolean;
  /** Returns the program's logger, which may be another one later. */
  readonly log: () => Logger;
}
