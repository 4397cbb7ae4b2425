import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { KoaBodyMiddlewareOptions } from 'koa-body';

/** Parses the bytes of one body. Throws what koa-body throws. */
type BodyParser = (bytes: Buffer) => Promise<unknown>;

/**
 * Returns a parser for one kind of body, which `options` enables. koa-body reads a stream of previously collected bytes: it has
 * neither a time limit nor a shared memory limit (docs/decisions.md). It reads no more of the context than is passed here; the
 * caller has matched the media type.
 */
export function bodyParser(options: Partial<KoaBodyMiddlewareOptions>): BodyParser {
  let read: Middleware | undefined;
  return async (bytes) => {
    // Loaded with the first body: an unused server does not need it. If loading fails, the next body tries again.
    if (!read) {
      const { koaBody } = await import('koa-body');
      read = koaBody({ json: false, urlencoded: false, text: false, multipart: false, ...options });
    }
    const request: { body?: unknown } = {};
    await read({ method: 'POST', is: matched, req: streamOf(bytes), request } as unknown as Context, done);
    return request.body;
  };
}

const matched = ([type]: readonly string[]): string | undefined => type;

/** Without headers: the length was checked, and other encodings were refused or are read unchanged. */
function streamOf(bytes: Buffer): Readable {
  const stream = new Readable({
    read() {
      this.push(bytes);
      this.push(null);
    },
  });
  return Object.assign(stream, { headers: {} });
}

const done = (): Promise<void> => Promise.resolve();
