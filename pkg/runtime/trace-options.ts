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

/** Where traces go, and which. */
export interface TraceRequest {
  readonly endpoint: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** 0 to 1, for the samplers by ratio. */
  readonly ratio: number;
}

export interface TraceOptions {
  /** server or worker. */
  readonly program: string;
  /** Of all spans of the process. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** False: the parents of root spans are from strangers, so whether they are sampled counts for nothing. */
  readonly trustsParents: boolean;
  /** The program's, which may be another one later. */
  readonly log: () => Logger;
}
