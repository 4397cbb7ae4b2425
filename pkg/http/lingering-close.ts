import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from './request-state.ts';

/**
 * Replies to a request whose body may not have been read: then closes the connection after the reply.
 * `limitMs`: how long the rest of the body is read and dropped; without it, to the end while bytes arrive (SILENCE_TIMEOUT_MS of
 * the listener).
 */
export function replyLingering(ctx: Context, body: Buffer, limitMs?: number): void {
  if (ctx.req.complete) ctx.body = body;
  else {
    ctx.set('Connection', 'close');
    ctx.body = lingering(body, ctx.req, limitMs);
  }
  ctx.length = body.length;
}

/**
 * The body at once; its end, which closes the connection, when the client has sent everything or the limit is over.
 * A connection that is closed on a client that still sends is reset, and the answer lost (RFC 9112 §9.6).
 */
function lingering(body: Buffer, request: IncomingMessage, limitMs: number | undefined): Readable {
  const reply = new Readable({ read: () => undefined });
  reply.push(body);
  const timer = limitMs === undefined ? undefined : setTimeout(() => end(), limitMs).unref();
  const end = (): void => {
    clearTimeout(timer);
    request.off('end', end).off('close', end);
    reply.push(null);
  };
  request.unpipe();
  request.on('end', end).on('close', end).resume();
  return reply;
}
