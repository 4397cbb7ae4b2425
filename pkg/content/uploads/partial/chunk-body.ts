import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';

/**
 * Reads the bytes of one request in runs. They end where the request ends, even if it breaks off or is stopped, because the bytes
 * before that are worth keeping. The request's own stream is never destroyed, because the reply still needs the connection.
 */
export class ChunkBody {
  readonly #source: Readable;
  readonly #through = new PassThrough();
  readonly #chunks: AsyncIterator<Buffer, undefined>;
  readonly #hash = createHash('sha256');
  readonly #signal: AbortSignal;
  #rest: Buffer | undefined;
  #isWhole = false;

  /** `signal`: stops it. */
  constructor(source: Readable, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    this.#chunks = this.#through[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
    source.once('end', this.#onEnd).once('error', this.#stop).once('close', this.#stop);
    signal.addEventListener('abort', this.#stop, { once: true });
    if (source.readableEnded) this.#onEnd();
    else source.pipe(this.#through);
    if (signal.aborted || source.destroyed) this.#stop();
  }

  /** True if the request has ended normally: all of its bytes have arrived. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Returns the SHA-256 in Base64. Call it once. */
  digest(): string {
    return this.#hash.digest('base64');
  }

  /** Waits for the next byte. False: there is none. */
  async isMore(): Promise<boolean> {
    while (this.#rest === undefined) {
      const next = await this.#chunks.next();
      if (next.done) return false;
      if (next.value.length > 0) this.#rest = next.value;
    }
    return true;
  }

  /** Yields the next bytes, `most` at most. */
  async *run(most: number): AsyncGenerator<Buffer> {
    for (let left = most; left > 0 && (await this.isMore());) {
      const chunk = this.#rest as Buffer;
      const taken = chunk.subarray(0, left);
      this.#rest = taken.length < chunk.length ? chunk.subarray(left) : undefined;
      left -= taken.length;
      this.#hash.update(taken);
      yield taken;
    }
  }

  end(): void {
    this.#source.off('end', this.#onEnd).off('error', this.#stop).off('close', this.#stop);
    this.#signal.removeEventListener('abort', this.#stop);
    this.#source.unpipe(this.#through);
    this.#through.destroy();
    // The reply handles the rest of the body; nobody needs its errors.
    this.#source.on('error', () => undefined);
  }

  readonly #onEnd = (): void => {
    this.#isWhole = true;
    this.#finish();
  };

  readonly #stop = (): void => {
    this.#source.unpipe(this.#through);
    this.#finish();
  };

  #finish(): void {
    if (!this.#through.writableEnded) this.#through.end();
  }
}
