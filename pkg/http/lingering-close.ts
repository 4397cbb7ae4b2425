import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterAwake } from '../runtime/awake.ts';
import type { Context } from './request-state.ts';

/**
 * Replies to a request whose body may not have been read. In that case it closes the connection after the reply.
 * `limitMs` bounds the time for which the rest of the body is read and dropped. Without it, the body is read to the end while
 * bytes arrive (SILENCE_TIMEOUT_MS of the listener). A time in which the process stands still, and reads nothing, hardly counts.
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
 * Returns the body at once. The stream ends, which closes the connection, when the client has sent everything or the limit is
 * over.
 * If a connection is closed while the client still sends, it is reset and the answer is lost (RFC 9112 §9.6).
 */
function lingering(body: Buffer, request: IncomingMessage, limitMs: number | undefined): Readable {
  const reply = new Readable({ read: () => undefined });
  reply.push(body);
  const cancel = limitMs === undefined ? undefined : afterAwake(limitMs, () => end());
  const end = (): void => {
    cancel?.();
    request.off('end', end).off('close', end);
    reply.push(null);
  };
  request.unpipe();
  request.on('end', end).on('close', end).resume();
  return reply;
}
