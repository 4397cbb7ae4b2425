import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';

export interface StreamedReply {
  /** Any status; a redirect is an ordinary reply and is not followed. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Streams as it arrives; the peer is read no faster than this is. Destroy an unneeded body: this ends the connection. */
  readonly body: Readable;
}

interface StreamedBounds {
  readonly clock: Clock;
  /** Limit of the reply's body. */
  readonly maxBytes: number;
  /** The longest time in which the peer may accept no byte of the request and send none of its reply. */
  readonly silenceMs: number;
  readonly tooLarge: () => Error;
  readonly silent: () => Error;
  /** Converts an error of undici or Node, with the reply's status if it has arrived. */
  readonly errorOf: (error: Error, status: number | undefined) => Error;
}

/**
 * One request to undici whose two bodies stream. Memory does not grow with them: the source is read as fast as the peer accepts
 * it, and the peer as fast as the reply's body is read. Time spent waiting for the source or for the reader does not count as the
 * peer's silence.
 */
export class StreamedExchange implements Dispatcher.DispatchHandler {
  readonly reply: Promise<StreamedReply>;
  /** Resolves when the exchange is over, with the error that it failed with, if any. */
  readonly over: Promise<Error | undefined>;
  readonly #replied = Promise.withResolvers<StreamedReply>();
  readonly #ended = Promise.withResolvers<Error | undefined>();
  readonly #bounds: StreamedBounds;
  #body: Readable | undefined;
  #bytes = 0;
  #status: number | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #isOver = false;
  #hush: () => void = () => undefined;

  constructor(bounds: StreamedBounds) {
    this.#bounds = bounds;
    this.reply = this.#replied.promise;
    this.over = this.#ended.promise;
  }

  /** The request's body. An error of the source ends the exchange, which then fails with this error. */
  async *sent(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source) {
        this.#listen();
        yield chunk;
        this.#hush();
      }
      this.#listen();
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /** Ends the exchange at once in any state. The first reason counts. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#failure ??= error;
    if (this.#controller) this.#controller.abort(this.#failure);
    else this.#end(this.#failure);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure);
    else this.#listen();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#listen();
    if (status < 200) return; // informational: the reply is still to come
    this.#status = status;
    const { maxBytes, tooLarge } = this.#bounds;
    if (Number(headers['content-length'] ?? 0) > maxBytes) return this.fail(tooLarge());
    this.#body = new Readable({
      read: () => {
        if (!controller.paused) return;
        this.#listen();
        controller.resume();
      },
      destroy: (error, done) => {
        if (!this.#isOver) this.fail(error ?? UNWANTED);
        done(error);
      },
    });
    this.#replied.resolve({ status, headers, body: this.#body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bounds.maxBytes) return this.fail(this.#bounds.tooLarge());
    if (this.#body?.push(chunk) === true) return this.#listen();
    this.#hush();
    controller.pause();
  }

  onResponseEnd(): void {
    this.#end(undefined);
    this.#body?.push(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(this.#failure ?? this.#bounds.errorOf(error, this.#status));
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#hush();
    if (error) {
      this.#replied.reject(error);
      this.#body?.destroy(error === UNWANTED ? undefined : error);
    }
    this.#ended.resolve(error);
  }

  /** From now on the peer must accept or send something. */
  #listen(): void {
    this.#hush();
    if (this.#isOver) return;
    this.#hush = this.#bounds.clock.schedule(this.#bounds.silenceMs, () => this.fail(this.#bounds.silent()));
  }
}

const UNWANTED = new Error('the reply is not needed');
