import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { type Endpoint, isStreamBody } from '../../api/endpoint.ts';
import { invalid, Problem } from '../../api/problem.ts';
import { parseJson, tooLarge } from './json.ts';

export const JSON_BYTES_MAX = 1024 * 1024;
/** A JSON body must be there whole within this; uploads take as long as they move. */
export const JSON_BODY_TIMEOUT_MS = 30_000;

const JSON_TYPE = 'application/json';

/** What came as a body: nothing, JSON with its bytes, or a stream that the endpoint reads. */
export type Body = { readonly kind: 'none' | 'stream' } | { readonly kind: 'json'; readonly value: unknown; readonly bytes: Buffer };

/** Reads the body that the endpoint takes. Problems: 400, 408, 413, 415. */
export async function readBody(request: IncomingMessage, endpoint: Endpoint): Promise<Body> {
  if (endpoint.body === undefined) {
    await requireNoBody(request, endpoint);
    return { kind: 'none' };
  }
  if (takesNothing(endpoint) && request.headers['content-type'] === undefined) {
    // A proxy may have made an empty chunked body of none.
    const bytes = await readBytes(request);
    if (bytes.length === 0) return { kind: 'json', value: {}, bytes };
  }
  const type = mediaType(request);
  const stream = isStreamBody(endpoint.body) ? endpoint.body : undefined;
  if (stream?.stream.includes(type)) return { kind: 'stream' };
  const takesJson = !stream || stream.json !== undefined;
  if (!takesJson || type !== JSON_TYPE || request.headers['content-encoding'] !== undefined) {
    const taken = [...(stream?.stream ?? []), ...(takesJson ? [JSON_TYPE] : [])];
    throw new Problem('unsupported_media_type', `This operation takes ${taken.join(' or ')}.`);
  }
  const bytes = await readBytes(request);
  return { kind: 'json', value: parseJson(bytes), bytes };
}

/** The schema of the JSON that the endpoint takes. */
export const jsonSchemaOf = (endpoint: Endpoint): z.ZodType | undefined =>
  isStreamBody(endpoint.body) ? endpoint.body.json : endpoint.body;

/** Whether every field of the JSON that the endpoint takes may be left out: no body at all is then as good as `{}`. */
export const takesNothing = (endpoint: Endpoint): boolean => jsonSchemaOf(endpoint)?.safeParse({}).success ?? false;

/** Clients that always send `{}` are let through; anything else would be ignored in silence, so it is refused. */
async function requireNoBody(request: IncomingMessage, endpoint: Endpoint): Promise<void> {
  if (endpoint.method === 'get' || (request.headers['content-length'] ?? '0') === '0') {
    if (request.headers['transfer-encoding'] === undefined || endpoint.method === 'get') return;
  }
  const text = (await readBytes(request)).toString('utf8').trim();
  if (text !== '' && text !== '{}') throw invalid('body', 'this operation takes none');
}

export function mediaType(request: IncomingMessage): string {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  const charset = parameters.map((parameter) => parameter.trim().toLowerCase()).find((parameter) => parameter.startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return utf8 ? type.trim().toLowerCase() : '';
}

/** Collects a small body. A declared length that is too large is refused before a byte is read. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > JSON_BYTES_MAX) throw tooLarge(JSON_BYTES_MAX);
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new Problem('request_timeout'))), JSON_BODY_TIMEOUT_MS);
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > JSON_BYTES_MAX) {
        request.pause();
        finish(() => reject(tooLarge(JSON_BYTES_MAX)));
      } else chunks.push(chunk);
    };
    const onEnd = (): void => finish(() => resolve(Buffer.concat(chunks)));
    const onGone = (): void => finish(() => reject(new Problem('validation_failed', 'The body ended before it was whole.')));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}
