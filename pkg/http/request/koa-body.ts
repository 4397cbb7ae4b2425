import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import type { KoaBodyMiddlewareOptions } from 'koa-body';

/** Parses the bytes of one body. Throws what koa-body throws. */
export type BodyParser = (bytes: Buffer) => Promise<unknown>;

/**
 * A parser of bodies of one kind, which `options` switches on. koa-body reads a stream of bytes that were collected before: it
 * has no bound of time and none that bodies share (docs/decisions.md). Of the context it reads no more than what is given here;
 * the media type was matched by the caller.
 */
export function bodyParser(options: Partial<KoaBodyMiddlewareOptions>): BodyParser {
  let read: Middleware | undefined;
  return async (bytes) => {
    // Loaded with the first body: a server that nobody uses does not need it. A load that failed is tried again with the next
    // one.
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
