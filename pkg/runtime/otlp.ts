import * as api from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './log.ts';
import type { TraceOptions, TraceRequest } from './trace-options.ts';
import { recordBy } from './traces.ts';

/** The most spans that wait to be sent (about 2 MB); further ones are dropped. */
const QUEUE_MAX = 2_048;
const BATCH_MAX = 512;
const SEND_EVERY_MS = 1_000;
const SEND_TIMEOUT_MS = 5_000;
/** Time limit for sending the last spans when the program ends. */
const LAST_MS = 2_000;
const LIMITS = { attributeCountLimit: 24, attributeValueLengthLimit: 256, eventCountLimit: 0, linkCountLimit: 1 };

/**
 * Records spans and sends them by OTLP over HTTP, in batches. This module is loaded only if an endpoint is set. Metrics and logs
 * have their own paths (docs/operate/monitor.md), so the SDK gets neither from OTEL_* settings.
 */
export function startOtlp(
  settings: TraceRequest,
  { program, attributes, trustsParents, log }: TraceOptions,
): () => Promise<void> {
  const exporter = quiet(
    new OTLPTraceExporter({ url: `${settings.endpoint}/v1/traces`, timeoutMillis: SEND_TIMEOUT_MS, concurrencyLimit: 4 }),
    log,
  );
  const sdk = new NodeSDK({
    autoDetectResources: false,
    resource: resourceFromAttributes({ 'service.name': `carrel-${program}`, 'service.namespace': 'carrel', ...attributes }),
    sampler: samplerOf(settings, trustsParents),
    spanLimits: LIMITS,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: 2 * SEND_TIMEOUT_MS,
      }),
    ],
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
  });
  sdk.start();
  recordBy({ api, tracer: api.trace.getTracer('carrel') });
  return async () => {
    recordBy(undefined);
    await Promise.race([sdk.shutdown().catch(() => undefined), sleep(LAST_MS, undefined, { ref: false })]);
    for (const part of [api.context, api.trace, api.logs]) part.disable();
  };
}

/** The samplers of OpenTelemetry's specification (General SDK Configuration, OTEL_TRACES_SAMPLER). */
function samplerOf({ sampler, ratio }: TraceRequest, trustsParents: boolean): Sampler {
  const rootOf = (name: string): Sampler =>
    name.endsWith('always_on')
      ? new AlwaysOnSampler()
      : name.endsWith('always_off')
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  const root = rootOf(sampler);
  if (!sampler.startsWith('parentbased_')) return root;
  return new ParentBasedSampler(trustsParents ? { root } : { root, remoteParentSampled: root, remoteParentNotSampled: root });
}

/** Logs one line when traces cannot be sent, and one when sending works again. */
function quiet(exporter: SpanExporter, log: () => Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing) log().warn({ err: result.error }, 'traces cannot be sent; spans are dropped until they can');
        if (!hasFailed && isFailing) log().info('traces are sent again');
        isFailing = hasFailed;
        // The processor would log each failure itself.
        done({ code: ExportResultCode.SUCCESS });
      }),
    shutdown: () => exporter.shutdown(),
  };
}
