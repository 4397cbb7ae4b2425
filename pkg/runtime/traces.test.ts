import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { z } from 'zod';
import { startTraceReceiver } from '../../test/support/fakes/otlp.ts';
import { range, waitFor } from '../../test/support/wait.ts';
import { readConfig } from './config.ts';
import { type Logger, silentLogger } from './log.ts';
import { startTraces, traceSettings } from './trace-settings.ts';
import { endSpan, inSpan, isTracing, parseTraceparent, startSpan, traceFields, traceparentOf, within } from './traces.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const settings = (env: Record<string, string>) => readConfig('server', z.object(traceSettings), env);

let stop = async (): Promise<void> => {};
const start = async (env: Record<string, string>, more: { trustsParents?: boolean; log?: () => Logger } = {}) => {
  const given = settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', ...env });
  stop = await startTraces(given, { program: 'test', trustsParents: false, log: () => silentLogger, ...more });
};
afterEach(() => stop());

test.each([
  [
    'the endpoint without its scheme',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    'OTEL_EXPORTER_OTLP_ENDPOINT is not valid: must be',
  ],
  [
    'a password in the endpoint',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:b@collector:4318' },
    'OTEL_EXPORTER_OTLP_ENDPOINT is not valid: must have no user name, password or query',
  ],
  [
    'a sampler that there is not',
    { OTEL_TRACES_SAMPLER: 'jaeger_remote' },
    'OTEL_TRACES_SAMPLER is not valid: must be one of always_on',
  ],
  ['a share above 1', { OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG is not valid: must be a number from 0 to 1'],
  [
    'a share that is no number',
    { OTEL_TRACES_SAMPLER_ARG: '10%' },
    'OTEL_TRACES_SAMPLER_ARG is not valid: must be a number from 0 to 1',
  ],
])('%s is one clear line', (_what, env, line) => {
  expect(() => settings(env)).toThrow(line);
});

test('a traceparent of version 00 is read to the letter, and nothing else is', () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-fe`)?.traceFlags).toBe(0);

  const hostile = [
    null,
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `01-${TRACE}-${SPAN}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    'a'.repeat(100_000),
  ];
  expect(hostile.map(parseTraceparent)).toEqual(hostile.map(() => undefined));
});

test('without an endpoint there is no span, and no module that records or sends one is loaded by server and worker', async () => {
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });

  expect([isTracing(), startSpan('a', { kind: 'server', parent: null }), traceparentOf(), traceFields()]).toEqual([
    false,
    undefined,
    null,
    {},
  ]);
  expect(await inSpan('a', { kind: 'client' }, async (span) => span)).toBeUndefined();

  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({
      resolve: (name, context, next) => { const found = next(name, context); loaded.push(found.url); return found; },
    });
    await import('./cmd/server/server.ts');
    await import('./cmd/worker/jobs.ts');
    const { startTraces } = await import('./pkg/runtime/trace-settings.ts');
    await startTraces({}, {});
    const recording = loaded.filter((url) => /otlp|@opentelemetry\\/(?!api)/.test(url));
    console.log(loaded.some((url) => url.includes('trace-settings')), recording.join());`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: join(import.meta.dirname, '../..') });
  expect(out.toString().trim()).toBe('true');
}, 30_000);

test('a stranger’s traceparent names the trace, and the program itself decides whether to sample it', async () => {
  const stranger = (flags: string) => parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`) ?? null;
  const sampled = (flags: string): [traceId: string | undefined, isRecording: boolean | undefined] => {
    const span = startSpan('a', { kind: 'server', parent: stranger(flags) });
    return [span?.spanContext().traceId, span?.isRecording()];
  };

  await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  expect([sampled('01'), sampled('00')]).toEqual([
    [TRACE, false],
    [TRACE, false],
  ]);
  await stop();
  await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' });
  expect([sampled('01'), sampled('00')]).toEqual([
    [TRACE, true],
    [TRACE, true],
  ]);
  await stop();
  await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, { trustsParents: true });
  expect([sampled('01'), sampled('00')]).toEqual([
    [TRACE, true],
    [TRACE, false],
  ]);
});

test('work outside of a trace has no span, and an unsampled trace is not propagated', async () => {
  await start({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
  const root = startSpan('a', { kind: 'server', parent: null });

  expect(startSpan('b', { kind: 'client' })).toBeUndefined();
  expect(root && within(root, () => [startSpan('b', { kind: 'client' })?.isRecording(), traceparentOf()])).toEqual([false, null]);
});

test('20,000 spans at once, faster than they can be sent, are dropped beyond the queue', async () => {
  const receiver = await startTraceReceiver();
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint });

  for (const number of range(20_000)) {
    const span = startSpan(`s${number}`, { kind: 'internal', parent: null, attributes: { long: 'x'.repeat(10_000) } });
    if (span) endSpan(span);
  }

  await waitFor('the queue', () => receiver.spans.length >= 2_048);
  await stop();
  expect(receiver.spans.length).toBeLessThanOrEqual(2_048 + 512);
  expect(String(receiver.spans[0]?.attributes.long)).toHaveLength(256);
  await receiver.close();
});

test('the log has one line when a receiver refuses traces, and one when it accepts them again', async () => {
  const receiver = await startTraceReceiver();
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  receiver.behave('refusing');
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint }, { log: () => log });
  const makeSpan = (): void => {
    const span = startSpan('a', { kind: 'internal', parent: null });
    if (span) endSpan(span);
  };
  const untilAsked = (times: number) =>
    waitFor(`${times} requests`, () => {
      makeSpan();
      return receiver.requests >= times;
    });

  await untilAsked(2);
  receiver.behave('answering');
  await waitFor('the traces', () => {
    makeSpan();
    return lines.length > 1;
  });

  expect(lines).toEqual(['traces cannot be sent; spans are dropped until they can', 'traces are sent again']);
  await receiver.close();
});
