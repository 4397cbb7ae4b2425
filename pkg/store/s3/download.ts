import { Readable } from 'node:stream';
import { StoreUnavailableError } from '../unavailable.ts';
import { translateError } from './errors.ts';
import { beginReading, endReading, READ_AHEAD_BYTES } from './read-buffer.ts';

/** A download whose next bytes take so long is given up. */
const STALL_TIMEOUT_MS = 10_000;

/**
 * The bytes of an object, as the store's reply gives them. It ends with StoreUnavailableError when the store fails, or sends
 * nothing for 10 s. A reader that is slow is no stall: time counts only while the reader waits for the store. Each chunk passes
 * through as it came.
 */
export class Download extends Readable {
  readonly #reply: Readable;
  readonly #stall: NodeJS.Timeout;
  readonly #until: AbortSignal | undefined;
  readonly #onAbort: () => void;
  /** The reader has what it can take. */
  #isFull = true;

  /** `until`: ends it when aborted, in the middle too. */
  constructor(reply: Readable, until?: AbortSignal) {
    super({ highWaterMark: READ_AHEAD_BYTES });
    beginReading();
    this.#reply = reply;
    this.#until = until;
    this.#onAbort = () => this.destroy(translateError(until?.reason) as Error);
    if (until?.aborted) this.#onAbort();
    else until?.addEventListener('abort', this.#onAbort, { once: true });
    this.#stall = setTimeout(() => this.#onSilence(), STALL_TIMEOUT_MS).unref();
    reply.on('data', (chunk: Buffer) => this.#onData(chunk));
    reply.on('end', () => this.push(null));
    reply.on('error', (error) => this.destroy(translateError(error) as Error));
    reply.on('close', () => {
      if (!reply.readableEnded)
        this.destroy(new StoreUnavailableError('s3', new Error('the store ended the connection within an object')));
    });
    reply.pause();
  }

  override _read(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#stall.refresh();
    this.#reply.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#stall);
    this.#until?.removeEventListener('abort', this.#onAbort);
    endReading();
    this.#reply.destroy();
    done(error);
  }

  #onData(chunk: Buffer): void {
    this.#stall.refresh();
    if (this.push(chunk)) return;
    this.#isFull = true;
    this.#reply.pause();
  }

  #onSilence(): void {
    if (!this.#isFull) this.destroy(new StoreUnavailableError('s3', new Error('a download stalled')));
  }
}
