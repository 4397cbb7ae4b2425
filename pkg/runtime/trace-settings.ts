import { z } from 'zod';
import { SAMPLERS, type TraceOptions } from './trace-options.ts';

/** Refuses a name, password, query or fragment: the address goes into logs and ConfigMaps. */
const isPlain = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
};

/** The settings of traces, under OpenTelemetry's names. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an address' })
    .max(500)
    .refine(isPlain, 'must have no user name, password or query')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('the address that takes traces by OTLP over HTTP, http://collector:4318; without it, there are no traces'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, { error: `must be one of ${SAMPLERS.join(', ')}` })
    .default('parentbased_always_on')
    .describe('which requests are traced: parentbased_always_on, or parentbased_traceidratio with OTEL_TRACES_SAMPLER_ARG'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a number from 0 to 1 with at most six decimals')
    .transform(Number)
    .default(1)
    .describe('the share of requests that the samplers by ratio trace, 0 to 1'),
};

type TraceSettings = z.output<ReturnType<typeof schema>>;
const schema = () => z.object(traceSettings);

/**
 * Turns tracing on if an endpoint is set, before the program creates anything else. Returns a function that sends the last spans,
 * in at most 2 s.
 */
export async function startTraces(settings: TraceSettings, options: TraceOptions): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio } = settings;
  if (endpoint === undefined) return async () => {};
  const { startOtlp } = await import('./otlp.ts');
  return startOtlp({ endpoint, sampler, ratio }, options);
}
