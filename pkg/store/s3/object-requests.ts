import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { type ClientOptions, CONNECTIONS_MAX } from './client.ts';
import { ReplyTooLarge } from './errors.ts';
import { asOperation } from './request-span.ts';
import { escape, sign, unsigned } from './signature.ts';
import { ANSWER_TIMEOUT_MS, CONNECT_TIMEOUT_MS, KEPT_CONNECTION_MS, sendTimeoutMs } from './timeouts.ts';

const ATTEMPTS = 2;
/** What a store may say of an object that it took. The SDK reads refusals, which are longer. */
const MAX_REPLY_BYTES = 64 * 1024;

/** What the store says of an object that it took. */
export interface Stored {
  /** Whether it encrypts the object at rest. */
  readonly isEncrypted: boolean;
}

/** How the store encrypts the object (S3 API, PutObject); absent: it does not. */
const ENCRYPTION_HEADER = 'x-amz-server-side-encryption';

export interface PutRequest {
  /** With the prefix of the location. */
  readonly key: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * The request that each upload makes, without the SDK: PutObject of bytes in memory costs a fifth of the SDK's CPU time. Connections are opened as
 * the SDK's are (`connect`), replies are bounded, and the bytes are not part of the signature (`leaveBytesUnsigned`).
 */
export class ObjectRequests {
  readonly #options: ClientOptions & { readonly bucket: string };
  readonly #clock: Clock;
  readonly #pool: Pool;
  readonly #host: string;
  /** What is in front of every key. */
  readonly #base: string;

  constructor(options: ClientOptions & { readonly bucket: string }, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    const { origin, host, pathname } = new URL(options.endpoint);
    this.#host = host;
    this.#base = `${pathname.replace(/\/$/, '')}/${escape(options.bucket)}/`;
    this.#pool = new Pool(origin, {
      connect: connectorOf(options),
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEPT_CONNECTION_MS,
      keepAliveMaxTimeout: KEPT_CONNECTION_MS,
    });
  }

  /**
   * Stores an object; null: the store answered with another status than a success, and the SDK is to ask again and read why.
   * Throws StoreUnavailableError after two attempts, or the signal's reason.
   */
  put(request: PutRequest): Promise<Stored | null> {
    return asOperation('PutObject', this.#options.bucket, () => this.#putTwice(request));
  }

  async #putTwice(request: PutRequest): Promise<Stored | null> {
    for (let attempt = 1; ; attempt += 1) {
      request.signal?.throwIfAborted();
      try {
        return await this.#put(request);
      } catch (error) {
        request.signal?.throwIfAborted();
        const isRefused = (error as Error).name === 'EgressError';
        if (isRefused || attempt === ATTEMPTS) throw new StoreUnavailableError('s3', error);
      }
    }
  }

  /** Ends the connections, those in use too. */
  close(): void {
    void this.#pool.destroy();
  }

  #put({ key, body, contentType, signal }: PutRequest): Promise<Stored | null> {
    const path = this.#base + key.split('/').map(escape).join('/');
    const headers = sign(
      {
        method: 'PUT',
        url: { host: this.#host, pathname: path, searchParams: NO_QUERY },
        headers: contentType === undefined ? {} : { 'content-type': contentType },
        body: unsigned,
      },
      this.#options,
      this.#clock.now(),
    );
    const { promise, resolve, reject } = Promise.withResolvers<Stored | null>();
    const reply = new Reply({ resolve, reject, signal, clock: this.#clock });
    const timeouts = { headersTimeout: sendTimeoutMs(body.length), bodyTimeout: ANSWER_TIMEOUT_MS };
    this.#pool.dispatch({ method: 'PUT', path, headers, body, ...timeouts }, reply);
    return promise;
  }
}

const NO_QUERY = new URLSearchParams();

function connectorOf({ connect }: ClientOptions): NonNullable<Pool.Options['connect']> {
  if (!connect) return { timeout: CONNECT_TIMEOUT_MS };
  return ({ protocol, hostname, port }, done) => {
    connect({ protocol, hostname, port }).then(
      (socket) => done(null, socket),
      (error: Error) => done(error, null),
    );
  };
}

interface ReplyDeps {
  readonly resolve: (stored: Stored | null) => void;
  readonly reject: (error: Error) => void;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Takes one reply: what it says once its body has ended, of which nothing is kept. */
class Reply implements Dispatcher.DispatchHandler {
  readonly #deps: ReplyDeps;
  #abort: (() => void) | undefined;
  #status = 0;
  #isEncrypted = false;
  #bytes = 0;
  #deadline = 0;

  constructor(deps: ReplyDeps) {
    this.#deps = deps;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { signal } = this.#deps;
    if (!signal) return;
    this.#abort = () => controller.abort(signal.reason as Error);
    if (signal.aborted) this.#abort();
    else signal.addEventListener('abort', this.#abort, { once: true });
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Dispatcher.ResponseData['headers']): void {
    this.#status = status;
    this.#isEncrypted = headers[ENCRYPTION_HEADER] !== undefined;
    this.#deadline = this.#deps.clock.monotonic() + ANSWER_TIMEOUT_MS;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    const isLate = this.#deps.clock.monotonic() > this.#deadline;
    if (isLate || this.#bytes > MAX_REPLY_BYTES)
      controller.abort(new ReplyTooLarge(`a reply of the store is longer than ${MAX_REPLY_BYTES} bytes or ${ANSWER_TIMEOUT_MS} ms`));
  }

  onResponseEnd(): void {
    this.#end();
    const isSuccess = this.#status >= 200 && this.#status < 300;
    this.#deps.resolve(isSuccess ? { isEncrypted: this.#isEncrypted } : null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#deps.reject(error);
  }

  #end(): void {
    if (this.#abort) this.#deps.signal?.removeEventListener('abort', this.#abort);
  }
}
