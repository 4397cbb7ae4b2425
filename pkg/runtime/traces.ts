import type { Attributes, Context, Span, SpanContext, Tracer } from '@opentelemetry/api';

export type { Span, SpanContext } from '@opentelemetry/api';

/**
 * Spans of the packages' own boundaries: request, statement, object, event, delivery. OpenTelemetry's modules are loaded only if
 * tracing is on (otlp.ts). This file imports only types of its API, since the module takes 1.3 MB.
 *
 * Invariants:
 * - When tracing is off, a boundary costs the check of one variable: no span, no AsyncLocalStorage, no attributes.
 * - Names and attributes come from the code: no parameters, no paths, no query strings, no messages of errors.
 */
let recorder: Recorder | undefined;

interface Recorder {
  readonly api: typeof import('@opentelemetry/api');
  readonly tracer: Tracer;
}

/** Undefined turns tracing off. otlp.ts calls this before anything is traced. */
export const recordBy = (used: Recorder | undefined): void => void (recorder = used);

export const isTracing = (): boolean => recorder !== undefined;

const KINDS = { internal: 'INTERNAL', server: 'SERVER', client: 'CLIENT', producer: 'PRODUCER', consumer: 'CONSUMER' } as const;

export interface SpanFacts {
  readonly kind: keyof typeof KINDS;
  readonly attributes?: Attributes;
  /** Default: the current span; without one, no span is started. Null: the span starts a trace of its own. */
  readonly parent?: SpanContext | null;
}

/**
 * Returns undefined if tracing is off, or if no span is current and no parent is given. The caller ends the span by `endSpan`.
 */
export function startSpan(name: string, { kind, attributes = {}, parent }: SpanFacts): Span | undefined {
  if (!recorder) return undefined;
  const { api, tracer } = recorder;
  if (parent === undefined && !api.trace.getActiveSpan()) return undefined;
  const above =
    parent === undefined ? api.context.active() : parent ? api.trace.setSpanContext(api.ROOT_CONTEXT, parent) : api.ROOT_CONTEXT;
  return tracer.startSpan(name, { kind: api.SpanKind[KINDS[kind]], attributes }, above);
}

/** Records only the kind of an error: its message may hold what a person typed. */
export function endSpan(span: Span, error?: unknown): void {
  if (error !== undefined && error !== null) markFailed(span, error instanceof Error ? error.name : typeof error);
  span.end();
}

/** `type` is one of a few words. */
export function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  if (recorder) span.setStatus({ code: recorder.api.SpanStatusCode.ERROR });
}

/** Runs `work` with the span as the current one. */
export function within<T>(span: Span, work: () => T): T {
  if (!recorder) return work();
  const { context, trace } = recorder.api;
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Runs `work` in a span; without one if tracing is off. */
export function inSpan<T>(name: string, facts: SpanFacts, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const span = startSpan(name, facts);
  return span ? ended(span, work) : work(undefined);
}

async function ended<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await within(span, () => work(span));
    endSpan(span);
    return result;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
}

/** Returns the current context, for work that is done later on another's behalf (`resume`); undefined if tracing is off. */
export const activeContext = (): Context | undefined => recorder?.api.context.active();

export const resume = <T>(active: Context | undefined, work: () => T): T =>
  active && recorder ? recorder.api.context.with(active, work) : work();

/** Version 00 only, of exactly this length: a later version may add unknown fields (W3C Trace Context §3.2). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NONE = /^0+$/;
/** The flag of W3C Trace Context §3.2.2.5.1. */
const SAMPLED = 1;

/** Reads another program's span from its W3C traceparent. Returns undefined for any other text; a new trace then begins. */
export function parseTraceparent(text: string | null | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = (text && TRACEPARENT.exec(text)) || [];
  if (traceId === '' || NONE.test(traceId) || NONE.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
}

const activeSpan = (): Span | undefined => recorder?.api.trace.getActiveSpan();

/**
 * Returns the traceparent of the given or current span. Null if tracing is off or the span is not sampled: do not propagate it.
 */
export function traceparentOf(span: Span | undefined = activeSpan()): string | null {
  const known = span?.spanContext();
  if (!known || (known.traceFlags & SAMPLED) === 0) return null;
  return `00-${known.traceId}-${known.spanId}-01`;
}

/** Returns the fields of a log line under OpenTelemetry's names; empty if there is no current span. */
export function traceFields(span: Span | undefined = activeSpan()): { trace_id?: string; span_id?: string } {
  const known = span?.spanContext();
  return known ? { trace_id: known.traceId, span_id: known.spanId } : {};
}
