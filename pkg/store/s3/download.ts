import { Readable } from 'node:stream';
import { StoreUnavailableError } from '../unavailable.ts';
import { translateError } from './errors.ts';
import { beginReading, endReading, READ_AHEAD_BYTES } from './read-buffer.ts';

/** A download that waits this long for its next bytes is aborted. */
const STALL_TIMEOUT_MS = 10_000;

/**
 * The bytes of an object, from the store's reply. It ends with StoreUnavailableError if the store fails, or sends nothing for 10
 * s. A slow reader is not a stall: time counts only while the reader waits for the store. Each chunk passes through unchanged.
 */
export class Download extends Readable {
  readonly #reply: Readable;
  readonly #stall: NodeJS.Timeout;
  readonly #until: AbortSignal | undefined;
  readonly #onAbort: () => void;
  /** The reader's buffer is full. */
  #isFull = true;

  /** `until` ends the download when aborted, even in the middle. */
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
