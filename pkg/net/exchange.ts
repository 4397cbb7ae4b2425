import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** The limits of a body, as in EgressRequest. */
interface Bounds {
  readonly maxBytes: number;
  readonly whenTooLarge: 'refuse' | 'cut';
  /** True if `content-length` states the size of a body; false in a reply to HEAD. */
  readonly isAnnounced: boolean;
  readonly tooLarge: () => Error;
}

export interface EgressReply {
  /** Any status; a redirect is an ordinary reply and is not followed. */
  readonly status: number;
  /** The reason phrase of the status line as received, at most 1,000 characters; often empty. */
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** As received, never decompressed (the request asks for `accept-encoding: identity`, which a server may ignore). */
  readonly body: Buffer;
  readonly isCut: boolean;
}

/**
 * One request to undici. It collects the reply, within the limit of its body, without a stream or a signal per request. `fail`
 * ends the exchange at once in any state: queued, connecting, sent or half answered.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly reply: Promise<EgressReply>;
  readonly #settle = Promise.withResolvers<EgressReply>();
  readonly #bounds: Bounds;
  /**
   * The first `#size` bytes are the body so far. Chunks are copied: a reply in pieces of one byte would take a hundred times its
   * size as a list of pieces.
   */
  #body: Buffer = EMPTY;
  #size = 0;
  #head: Pick<EgressReply, 'status' | 'statusText' | 'headers'> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.reply = this.#settle.promise;
  }

  /** The reply's status, once its headers have arrived. */
  get status(): number | undefined {
    return this.#head?.status;
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#settle.reject(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusText = '',
  ): void {
    if (status < 200) return; // informational: the reply is still to come
    this.#head = { status, statusText, headers };
    const { isAnnounced, maxBytes, whenTooLarge, tooLarge } = this.#bounds;
    if (isAnnounced && whenTooLarge === 'refuse' && Number(headers['content-length'] ?? 0) > maxBytes) this.fail(tooLarge());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes, whenTooLarge, tooLarge } = this.#bounds;
    this.#append(chunk);
    if (this.#size <= maxBytes) return;
    if (whenTooLarge === 'refuse') return this.fail(tooLarge());
    this.#resolve(this.#body.subarray(0, maxBytes), true);
    controller.abort(CUT);
  }

  onResponseEnd(): void {
    this.#resolve(this.#body.subarray(0, this.#size), false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle.reject(error);
  }

  #append(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#body.length));
      this.#body.copy(larger, 0, 0, this.#size);
      this.#body = larger;
    }
    chunk.copy(this.#body, this.#size);
    this.#size = size;
  }

  #resolve(body: Buffer, isCut: boolean): void {
    if (this.#head) this.#settle.resolve({ ...this.#head, body, isCut });
  }
}

const EMPTY = Buffer.alloc(0);
const CUT = new Error('the reply is cut');
