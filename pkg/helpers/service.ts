import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram } from 'prom-client';
import { z } from 'zod';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Job, PdfConversions } from './pdf/conversions.ts';
import type { PdfOptimiser } from './pdf/optimise/optimiser.ts';
import type { PdfTranslator } from './pdf/translate/pdf-translator.ts';
import { Refusal } from './refusal.ts';
import type { Slots } from './slots.ts';
import type { Translator } from './translator/translator.ts';

const MAX_CHARACTERS = 50_000;
/** A character takes at most six bytes in JSON, `\u0041`; the languages are short. */
const MAX_JSON_BYTES = 6 * MAX_CHARACTERS + 4_096;
const BODY_MS = 30_000;
const TENANT_HEADER = 'x-carrel-tenant';

const TranslateRequest = z.object({
  text: z.string().min(1).max(MAX_CHARACTERS),
  target_language: z.string().min(1).max(64),
  source_language: z.string().min(1).max(64).default('auto'),
});

interface ServiceDeps {
  readonly translator: Translator;
  readonly texts: Slots;
  readonly pdfs: Slots;
  readonly conversions: PdfConversions;
  readonly optimiser: PdfOptimiser;
  readonly pdfTranslator: PdfTranslator;
  /** Each of them is accepted; without any, everyone is. */
  readonly tokens: readonly string[];
  /** How long a request may take until its reply begins. */
  readonly timeoutMs: number;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the client disconnects, and when the reply takes too long to begin. */
  readonly signal: AbortSignal;
  /** The client or tenant of this request, for fair turns. */
  readonly whose: string;
}

interface Route {
  readonly method: string;
  readonly operation: string;
  readonly handle: (exchange: Exchange) => Promise<void>;
}

/**
 * The helpers' HTTP server: it replies with JSON or a PDF; a Refusal is `{ error, message }`. A client that disconnects ends its
 * request.
 */
export function createService(deps: ServiceDeps): Server {
  const seconds = new Histogram({
    name: 'carrel_helper_request_seconds',
    help: 'Requests to the helpers, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [deps.metrics],
  });
  const routes = routesOf(deps);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const left = new AbortController();
    response.once('close', () => left.abort(new Error('the client left')));
    const late = AbortSignal.timeout(deps.timeoutMs);
    const route = routes((request.url ?? '').split('?')[0] ?? '', request);
    const end = seconds.startTimer({ operation: route?.operation ?? 'none' });
    try {
      authenticate(request, deps.tokens);
      if (!route) throw new Refusal('not_found');
      if (request.method !== route.method) {
        response.setHeader('allow', route.method);
        throw new Refusal('method_not_allowed');
      }
      await route.handle({ request, response, signal: AbortSignal.any([left.signal, late]), whose: whoseOf(request) });
    } catch (error) {
      // A reply that has begun can only be aborted.
      if (response.headersSent) return void response.destroy();
      const refusal =
        error instanceof Refusal
          ? error
          : new Refusal(late.aborted ? 'unavailable' : 'internal', undefined, late.aborted ? 10 : undefined);
      if (refusal.code === 'internal' && !left.signal.aborted) deps.log.error({ err: error }, 'request failed');
      if (refusal.retryAfter !== undefined) response.setHeader('retry-after', refusal.retryAfter);
      // The rest of the body is not read, so the connection cannot be used again.
      if (!request.complete) response.setHeader('connection', 'close');
      send(response, refusal.status, { error: refusal.code, message: refusal.message });
    } finally {
      end({ status: response.statusCode });
    }
  };
  return createServer({ requestTimeout: 120_000, headersTimeout: 10_000 }, (request, response) => void answer(request, response));
}

/** Returns the route of a path. Texts and PDFs share `/translate`: the type of the body distinguishes them. */
function routesOf(deps: ServiceDeps): (path: string, request: IncomingMessage) => Route | undefined {
  const { translator, conversions, optimiser, pdfTranslator } = deps;
  const bytes = new Counter({
    name: 'carrel_helper_pdf_bytes_total',
    help: 'Bytes of PDFs that were converted, by operation and side (received, sent)',
    labelNames: ['operation', 'side'],
    registers: [deps.metrics],
  });
  const slots = new Gauge({
    name: 'carrel_helper_slots',
    help: 'Requests in progress, by kind (texts, pdfs) and state (running, waiting)',
    labelNames: ['kind', 'state'],
    registers: [],
    collect() {
      for (const kind of ['texts', 'pdfs'] as const)
        for (const state of ['running', 'waiting'] as const) this.set({ kind, state }, deps[kind][state]);
    },
  });
  deps.metrics.registerMetric(slots);
  const json = (operation: string, method: string, body: (exchange: Exchange) => Promise<unknown>): Route => ({
    method,
    operation,
    handle: async (exchange) => send(exchange.response, 200, await body(exchange)),
  });
  const pdf = (operation: string, fields: readonly string[], convert: (job: Job) => Promise<string>): Route => ({
    method: 'POST',
    operation,
    handle: async (exchange) => {
      if (!isForm(exchange.request)) throw new Refusal('unsupported_media_type', 'Send the PDF as multipart/form-data.');
      const { received, sent } = await conversions.answer(exchange, fields, convert);
      bytes.inc({ operation, side: 'received' }, received);
      bytes.inc({ operation, side: 'sent' }, sent);
    },
  });
  const routes: Record<string, Route> = {
    '/translate': json('translate', 'POST', (exchange) => translate(deps, exchange)),
    '/languages': json('languages', 'GET', ({ signal }) => translator.languages(signal)),
    '/optimize': pdf('optimize', ['quality', 'force'], (job) => optimiser.optimise(job)),
  };
  const translatePdf = pdf('translate_pdf', ['target_lang', 'source_lang'], (job) => pdfTranslator.translate(job));
  return (path, request) => {
    if (path === '/translate' && isForm(request)) return translatePdf;
    return Object.hasOwn(routes, path) ? routes[path] : undefined;
  };
}

/** Returns the token together with the tenant that Carrel names, or with the client's address if none is named. */
const whoseOf = ({ headers, socket }: IncomingMessage): string =>
  `${headers.authorization ?? ''} ${headers[TENANT_HEADER]?.toString() ?? socket.remoteAddress ?? ''}`;

const isForm = (request: IncomingMessage): boolean => /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');

async function translate({ translator, texts }: ServiceDeps, { request, signal, whose }: Exchange): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal('unsupported_media_type', 'Send the text as application/json.');
  texts.requireVacancy(whose);
  const body = TranslateRequest.safeParse(parsed(await readBounded(request, MAX_JSON_BYTES, signal)));
  if (!body.success) {
    const [issue] = body.error.issues;
    throw new Refusal(
      issue?.code === 'too_big' && issue.path[0] === 'text' ? 'payload_too_large' : 'validation_failed',
      messageOf(issue),
    );
  }
  const { text, source_language: source, target_language: target } = body.data;
  return texts.run(whose, signal, async () => {
    const from = source.toLowerCase() === 'auto' ? null : source;
    const translation = await translator.translate(text, { source: from, target }, signal);
    return { text: translation.text, source_language: translation.source ?? undefined, provider: translation.provider };
  });
}

const messageOf = (issue: z.core.$ZodIssue | undefined): string =>
  `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'not valid'}`;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('validation_failed', 'The body is not JSON.');
  }
}

async function readBounded(request: IncomingMessage, most: number, signal: AbortSignal): Promise<string> {
  const slow = AbortSignal.timeout(BODY_MS);
  const bounded = AbortSignal.any([signal, slow]);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bounded.throwIfAborted();
      bytes += chunk.byteLength;
      if (bytes > most) throw new Refusal('payload_too_large', `The text has more than ${MAX_CHARACTERS} characters.`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw slow.aborted ? new Refusal('request_timeout') : error;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The hashes have the same length, so the comparison takes the same time for each token. */
const sameText = (one: string, other: string): boolean => {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
};

function authenticate(request: IncomingMessage, tokens: readonly string[]): void {
  if (tokens.length === 0) return;
  const [, sent = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (!tokens.some((token) => sameText(token, sent))) throw new Refusal('unauthenticated');
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    })
    .end(text);
}
