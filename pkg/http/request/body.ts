import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { ANONYMOUS_JSON_BYTES_MAX, BODIES_BYTES_MAX, JSON_BODY_TIMEOUT_MS, JSON_BYTES_MAX } from '../size-and-time-limits.ts';
import { type Endpoint, isStreamBody } from '../../api/endpoint.ts';
import { invalid, Problem } from '../../api/problem.ts';
import { BodyBudget } from './body-budget.ts';
import { parseJson, tooLarge } from './json.ts';

const JSON_TYPE = 'application/json';
/** For an endpoint that also accepts JSON: the form's fields are read as fields of the JSON, each as text. */
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Seconds after which there may be room for a body again. */
const RETRY_AFTER_SECONDS = 2;
const BODIES = new BodyBudget(BODIES_BYTES_MAX);

/** The received body: none, JSON (or a form instead of it) with its bytes, or a stream that the endpoint reads. */
export type Body =
  | { readonly kind: 'none' | 'stream' }
  | { readonly kind: 'json'; readonly value: unknown; readonly bytes: Buffer };

/**
 * Reads the body that the endpoint accepts. `owner` is the caller whose share of the memory for bodies it uses. Problems: 400,
 * 408, 413, 415, 503.
 */
export async function readBody(request: IncomingMessage, endpoint: Endpoint, owner: string): Promise<Body> {
  const bounds = { owner, maxBytes: endpoint.caller === 'anyone' ? ANONYMOUS_JSON_BYTES_MAX : JSON_BYTES_MAX };
  if (endpoint.body === undefined) {
    await requireNoBody(request, endpoint, bounds);
    return { kind: 'none' };
  }
  if (request.headers['content-type'] === undefined && takesNothing(endpoint)) {
    // A proxy may have turned a missing body into an empty chunked one.
    const bytes = await readBytes(request, bounds, (sent) => sent);
    if (bytes.length === 0) return { kind: 'json', value: {}, bytes };
  }
  const type = mediaType(request);
  const stream = isStreamBody(endpoint.body) ? endpoint.body : undefined;
  if (stream?.json !== undefined && type === FORM_TYPE && stream.stream.includes(type))
    return readBytes(request, bounds, (bytes) => ({ kind: 'json', value: fieldsOf(bytes), bytes }));
  if (stream?.stream.includes(type)) return { kind: 'stream' };
  const takesJson = !stream || stream.json !== undefined;
  if (!takesJson || type !== JSON_TYPE || request.headers['content-encoding'] !== undefined) {
    const taken = [...(stream?.stream ?? []), ...(takesJson ? [JSON_TYPE] : [])];
    throw new Problem('unsupported_media_type', `This operation takes ${taken.join(' or ')}.`);
  }
  return readBytes(request, bounds, async (bytes) => ({ kind: 'json', value: await parseJson(bytes), bytes }));
}

/** Returns the schema of the JSON that the endpoint accepts. */
export const jsonSchemaOf = (endpoint: Endpoint): z.ZodType | undefined =>
  isStreamBody(endpoint.body) ? endpoint.body.json : endpoint.body;

/** Returns true if every field of the endpoint's JSON is optional, so that no body at all is as good as `{}`. */
export const takesNothing = (endpoint: Endpoint): boolean => jsonSchemaOf(endpoint)?.safeParse({}).success ?? false;

/** Returns the fields of a form (WHATWG URL §5.1). Throws `validation_failed` for a field that is repeated. */
function fieldsOf(bytes: Buffer): Readonly<Record<string, string>> {
  const pairs = [...new URLSearchParams(bytes.toString('utf8'))];
  const repeated = pairs.find(([name], at) => pairs.findIndex(([other]) => other === name) < at);
  if (repeated) throw invalid(repeated[0], 'must be given once');
  return Object.fromEntries(pairs);
}

/** Accepts `{}`, which some clients always send. Any other body would be ignored silently, so it is refused. */
async function requireNoBody(request: IncomingMessage, endpoint: Endpoint, bounds: BodyBounds): Promise<void> {
  if (endpoint.method === 'get' || (request.headers['content-length'] ?? '0') === '0') {
    if (request.headers['transfer-encoding'] === undefined || endpoint.method === 'get') return;
  }
  const text = await readBytes(request, bounds, (bytes) => bytes.toString('utf8').trim());
  if (text !== '' && text !== '{}') throw invalid('body', 'this operation takes none');
}

export function mediaType(request: IncomingMessage): string {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((parameter) => parameter.trim().toLowerCase())
    .find((parameter) => parameter.startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return utf8 ? type.trim().toLowerCase() : '';
}

interface BodyBounds {
  readonly owner: string;
  readonly maxBytes: number;
}

/**
 * Collects a small body and returns the result of `parse`; its share of the memory for bodies is then free again. A declared
 * length that is too large is refused before a byte is read. Problems: 400, 408, 413, 503.
 */
export async function readBytes<T>(
  request: IncomingMessage,
  { owner, maxBytes }: BodyBounds,
  parse: (bytes: Buffer) => T | Promise<T>,
): Promise<T> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.destroyed) throw cutShort();
  const chunks: Buffer[] = [];
  let size = 0;
  const whole = new Promise<Buffer>((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new Problem('request_timeout'))), JSON_BODY_TIMEOUT_MS);
    const finish = (complete: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      complete();
    };
    const refuse = (problem: Problem): void => {
      request.pause();
      finish(() => reject(problem));
    };
    const onData = (chunk: Buffer): void => {
      if (size + chunk.length > maxBytes) return refuse(tooLarge(maxBytes));
      if (!BODIES.take(owner, chunk.length)) return refuse(noRoom());
      size += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = (): void => finish(() => resolve(Buffer.concat(chunks)));
    const onGone = (): void => finish(() => reject(cutShort()));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
  return whole.then(parse).finally(() => BODIES.give(owner, size));
}

const cutShort = (): Problem => new Problem('validation_failed', 'The body ended before its Content-Length.');
const noRoom = (): Problem =>
  new Problem('unavailable', 'Too many concurrent uploads. Try again soon.', { retryAfter: RETRY_AFTER_SECONDS });
