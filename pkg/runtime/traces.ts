import type { Attributes, Context, Span, SpanContext, Tracer } from '@opentelemetry/api';

export type { Span, SpanContext } from '@opentelemetry/api';

/**
 * Spans of the packages' own seams: request, statement, object, event, delivery. OpenTelemetry's modules are loaded only where
 * traces are on (otlp.ts); of its API the types alone are imported here, since the module takes 1.3 MB.
 *
 * Invariants:
 * - Where traces are off, a seam costs the check of one variable: no span, no AsyncLocalStorage, no attributes.
 * - Names and attributes are the code's own words: no parameters, no paths, no query strings, no messages of errors.
 */
let recorder: Recorder | undefined;

export interface Recorder {
  readonly api: typeof import('@opentelemetry/api');
  readonly tracer: Tracer;
}

/** Undefined turns traces off. Called by otlp.ts before anything is traced. */
export const recordBy = (used: Recorder | undefined): void => void (recorder = used);

export const isTracing = (): boolean => recorder !== undefined;

const KINDS = { internal: 'INTERNAL', server: 'SERVER', client: 'CLIENT', producer: 'PRODUCER', consumer: 'CONSUMER' } as const;

export interface SpanFacts {
  readonly kind: keyof typeof KINDS;
  readonly attributes?: Attributes;
  /** Default: the span that runs now; where there is none, there is no span. Null: a trace of its own. */
  readonly parent?: SpanContext | null;
}

/** Undefined where traces are off, or nothing that is traced asks for it. The caller ends it by `endSpan`. */
export function startSpan(name: string, { kind, attributes = {}, parent }: SpanFacts): Span | undefined {
  if (!recorder) return undefined;
  const { api, tracer } = recorder;
  if (parent === undefined && !api.trace.getActiveSpan()) return undefined;
  const above =
    parent === undefined ? api.context.active() : parent ? api.trace.setSpanContext(api.ROOT_CONTEXT, parent) : api.ROOT_CONTEXT;
  return tracer.startSpan(name, { kind: api.SpanKind[KINDS[kind]], attributes }, above);
}

/** Of an error only its kind is recorded: its message may hold what a person typed. */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined && error !== null) markFailed(span, error instanceof Error ? error.name : typeof error);
  span.end();
}

/** `type`: one of few words. */
export function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  if (recorder) span.setStatus({ code: recorder.api.SpanStatusCode.ERROR });
}

/** What `work` starts is below the span. */
export function within<T>(span: Span, work: () => T): T {
  if (!recorder) return work();
  const { context, trace } = recorder.api;
  return context.with(trace.setSpan(context.active(), span), work);
}

/** `work` as a span; without one where traces are off. */
export async function inSpan<T>(name: string, facts: SpanFacts, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const span = startSpan(name, facts);
  if (!span) return work(undefined);
  try {
    const result = await within(span, () => work(span));
    endSpan(span);
    return result;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** What runs now, for work that is done later in another's name (`resume`); undefined where traces are off. */
export const activeContext = (): Context | undefined => recorder?.api.context.active();

export const resume = <T>(active: Context | undefined, work: () => T): T =>
  active && recorder ? recorder.api.context.with(active, work) : work();

/** Version 00 alone, of exactly this length: what a later version would add is not known (W3C Trace Context §3.2). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NONE = /^0+$/;
/** The flag of W3C Trace Context §3.2.2.5.1. */
const SAMPLED = 1;

/** The span of another program, by its W3C traceparent; undefined for anything else, and the trace begins anew. */
export function parseTraceparent(text: string | null | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = (text && TRACEPARENT.exec(text)) || [];
  if (traceId === '' || NONE.test(traceId) || NONE.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
}

const activeSpan = (): Span | undefined => recorder?.api.trace.getActiveSpan();

/** Of the span, or of the one that runs now. Null where traces are off or this one is not sampled: nobody is to ask for it. */
export function traceparentOf(span: Span | undefined = activeSpan()): string | null {
  const known = span?.spanContext();
  if (!known || (known.traceFlags & SAMPLED) === 0) return null;
  return `00-${known.traceId}-${known.spanId}-01`;
}

/** The fields of a log line, as OpenTelemetry names them; empty where no span runs. */
export function traceFields(span: Span | undefined = activeSpan()): { trace_id?: string; span_id?: string } {
  const known = span?.spanContext();
  return known ? { trace_id: known.traceId, span_id: known.spanId } : {};
}
