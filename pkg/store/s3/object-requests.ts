import { Readable } from 'node:stream';
import type { Dispatcher, Pool as UndiciPool } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { Pool } from '../../runtime/undici.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { type ClientOptions, CONNECTIONS_MAX } from './client.ts';
import { ReplyMalformed, ReplyTooLarge } from './errors.ts';
import type { ReplyReader } from './listed-pages.ts';
import { FREE_BYTES, NAMED_STORE_REPLIES } from './reply-budget.ts';
import { asOperation } from './request-span.ts';
import { canonicalQuery, escape, sign, unsigned } from './signature.ts';
import { ANSWER_TIMEOUT_MS, CONNECT_TIMEOUT_MS, KEPT_CONNECTION_MS, replyTimeoutMs, sendTimeoutMs } from './timeouts.ts';

const ATTEMPTS = 2;
/** The limit of a store's reply to a stored object. The SDK reads refusals, which are longer. */
const MAX_REPLY_BYTES = 64 * 1024;
/** A page has at most 1,000 keys of 1,024 bytes, and the data about each. */
const MAX_LISTING_BYTES = 2 << 20;

/** The store's reply about a stored object. */
export interface Stored {
  /** True if the store encrypts the object at rest. */
  readonly isEncrypted: boolean;
}

/** The encryption of the object (S3 API, PutObject); absent if there is none. */
const ENCRYPTION_HEADER = 'x-amz-server-side-encryption';

interface PutRequest {
  /** The key with the prefix of the location. */
  readonly key: string;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  /** No attempt begins once it is aborted. */
  readonly signal: AbortSignal | undefined;
  /** Ends an attempt that is under way. */
  readonly cut: AbortSignal;
}

interface PutPartRequest {
  /** The key with the prefix of the location. */
  readonly key: string;
  readonly uploadId: string;
  readonly number: number;
  /** Exactly `size` bytes. */
  readonly body: AsyncIterable<Buffer>;
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

/** A query about the bucket. */
export interface ListRequest<T> {
  /** The S3 API's name, for traces. */
  readonly operation: string;
  readonly query: Readonly<Record<string, string>>;
  /** Creates a new reader for each attempt. */
  readonly reader: () => ReplyReader<T>;
  readonly signal: AbortSignal | undefined;
}

/**
 * Requests without the SDK. Listings: the SDK holds a whole reply, and ten times as much once it is parsed. The request of each
 * upload: PutObject of bytes in memory costs a fifth of the SDK's CPU time. Connections are opened like the SDK's (`connect`),
 * replies are bounded, and the bytes are not part of the signature (`leaveBytesUnsigned`).
 */
export class ObjectRequests {
  readonly #options: ClientOptions & { readonly bucket: string };
  readonly #clock: Clock;
  readonly #pool: UndiciPool;
  readonly #host: string;
  /** The path that precedes every key. */
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
   * Stores an object. Returns null if the store answered with a status other than success; the SDK must then ask again and read
   * the reason. Throws StoreUnavailableError after two attempts, or the reason of the signal, whichever it is.
   */
  put(request: PutRequest): Promise<Stored | null> {
    return asOperation('PutObject', this.#options.bucket, () => this.#twice(request.signal, () => this.#put(request)));
  }

  /**
   * Streams one part of a multipart upload, which is sent once, and returns its entity tag; null if the store answered with a
   * status other than success. Throws what the body threw, the signal's reason, or the error of the broken connection.
   */
  putPart({ key, uploadId, number, body, size, signal }: PutPartRequest): Promise<string | null> {
    const searchParams = new URLSearchParams({ partNumber: String(number), uploadId });
    const pathname = this.#base + key.split('/').map(escape).join('/');
    const length = { 'content-length': String(size) };
    const url = { host: this.#host, pathname, searchParams };
    const headers = { ...sign({ method: 'PUT', url, headers: {}, body: unsigned }, this.#options, this.#clock.now()), ...length };
    const path = `${pathname}?${canonicalQuery({ searchParams })}`;
    return asOperation('UploadPart', this.#options.bucket, () => {
      const { promise, resolve, reject } = Promise.withResolvers<string | null>();
      const reply = new PartReply({ resolve, reject, signal, clock: this.#clock });
      const timeouts = { headersTimeout: sendTimeoutMs(size), bodyTimeout: ANSWER_TIMEOUT_MS };
      this.#pool.dispatch({ method: 'PUT', path, headers, body: Readable.from(body, { objectMode: false }), ...timeouts }, reply);
      return promise;
    });
  }

  async #twice<T>(signal: AbortSignal | undefined, ask: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      try {
        return await ask();
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ReplyMalformed) throw error;
        const isRefused = (error as Error).name === 'EgressError';
        if (isRefused || attempt === ATTEMPTS) throw new StoreUnavailableError('s3', error);
      }
    }
  }

  /**
   * Reads a listing as it arrives. Returns null if the store answered with a status other than success; the SDK must then ask
   * again and read the reason. Throws StoreUnavailableError after two attempts, ReplyMalformed, or the signal's reason.
   */
  list<T>(request: ListRequest<T>): Promise<T | null> {
    return asOperation(request.operation, this.#options.bucket, () => this.#twice(request.signal, () => this.#list(request)));
  }

  /** Ends all connections, including those in use. */
  close(): void {
    void this.#pool.destroy();
  }

  #put({ key, body, contentType, signal, cut }: PutRequest): Promise<Stored | null> {
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
    const reply = new PutReply({ resolve, reject, signal: cut, clock: this.#clock }, signal);
    const timeouts = { headersTimeout: sendTimeoutMs(body.length), bodyTimeout: ANSWER_TIMEOUT_MS };
    this.#pool.dispatch({ method: 'PUT', path, headers, body, ...timeouts }, reply);
    return promise;
  }

  #list<T>({ query, reader, signal }: ListRequest<T>): Promise<T | null> {
    const searchParams = new URLSearchParams(query);
    const pathname = this.#base.slice(0, -1);
    const headers = sign(
      { method: 'GET', url: { host: this.#host, pathname, searchParams }, headers: {}, body: '' },
      this.#options,
      this.#clock.now(),
    );
    const { promise, resolve, reject } = Promise.withResolvers<T | null>();
    const { connect, endpoint } = this.#options;
    const reply = new ListReply<T>({ resolve, reject, signal, clock: this.#clock }, reader(), connect && endpoint);
    const timeouts = { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
    this.#pool.dispatch({ method: 'GET', path: `${pathname}?${canonicalQuery({ searchParams })}`, headers, ...timeouts }, reply);
    return promise;
  }
}

const NO_QUERY = new URLSearchParams();

function connectorOf({ connect }: ClientOptions): NonNullable<UndiciPool.Options['connect']> {
  if (!connect) return { timeout: CONNECT_TIMEOUT_MS };
  return ({ protocol, hostname, port }, done) => {
    connect({ protocol, hostname, port }).then(
      (socket) => done(null, socket),
      (error: Error) => done(error, null),
    );
  };
}

interface ReplyDeps<T> {
  readonly resolve: (value: T | null) => void;
  readonly reject: (error: Error) => void;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Reads one reply within its limits of bytes and time. */
abstract class Reply<T> implements Dispatcher.DispatchHandler {
  protected readonly deps: ReplyDeps<T>;
  protected status = 0;
  protected bytes = 0;
  /** The clock's milliseconds from which the reply's time counts. */
  protected begun = 0;
  #abort: (() => void) | undefined;

  constructor(deps: ReplyDeps<T>) {
    this.deps = deps;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { signal } = this.deps;
    if (!signal) return;
    this.#abort = () => controller.abort(signal.reason as Error);
    if (signal.aborted) this.#abort();
    else signal.addEventListener('abort', this.#abort, { once: true });
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Dispatcher.ResponseData['headers']): void {
    this.status = status;
    this.begun = this.deps.clock.monotonic();
    this.onHeaders(headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    const most = this.isSuccess ? this.mostBytes : MAX_REPLY_BYTES;
    const mostMs = replyTimeoutMs(this.bytes - chunk.length);
    if (this.bytes > most || this.deps.clock.monotonic() - this.begun > mostMs)
      controller.abort(new ReplyTooLarge(`a reply of the store is longer than ${most} bytes, or arrives too slowly`));
    else if (this.isSuccess) this.onBytes(controller, chunk);
  }

  onResponseEnd(): void {
    this.#end();
    try {
      this.deps.resolve(this.isSuccess ? this.value() : null);
    } catch (error) {
      this.deps.reject(error as Error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.deps.reject(error);
  }

  protected get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The limit of a successful reply. */
  protected abstract readonly mostBytes: number;
  protected abstract onHeaders(headers: Dispatcher.ResponseData['headers']): void;
  protected abstract onBytes(controller: Dispatcher.DispatchController, chunk: Buffer): void;
  /** Returns the value of a successful reply that has ended. */
  protected abstract value(): T;
  protected onEnd(): void {}

  #end(): void {
    if (this.#abort) this.deps.signal?.removeEventListener('abort', this.#abort);
    this.onEnd();
  }
}

/** The store's reply about a stored object; the body is discarded. */
class PutReply extends Reply<Stored> {
  protected readonly mostBytes = MAX_REPLY_BYTES;
  readonly #wanted: AbortSignal | undefined;
  #isEncrypted = false;

  /** `wanted`: once it is aborted, the request does not begin. */
  constructor(deps: ReplyDeps<Stored>, wanted: AbortSignal | undefined) {
    super(deps);
    this.#wanted = wanted;
  }

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#wanted?.aborted) controller.abort(this.#wanted.reason as Error);
    else super.onRequestStart(controller);
  }

  protected onHeaders(headers: Dispatcher.ResponseData['headers']): void {
    this.#isEncrypted = headers[ENCRYPTION_HEADER] !== undefined;
  }

  protected onBytes(): void {}

  protected value(): Stored {
    return { isEncrypted: this.#isEncrypted };
  }
}

/** The store's reply about a stored part: its entity tag. */
class PartReply extends Reply<string> {
  protected readonly mostBytes = MAX_REPLY_BYTES;
  #etag = '';

  protected onHeaders(headers: Dispatcher.ResponseData['headers']): void {
    this.#etag = String(headers['etag'] ?? '');
  }

  protected onBytes(): void {}

  protected value(): string {
    return this.#etag;
  }
}

/** A listing, read as it arrives. A long one from a store that a tenant named waits for its share of the budget. */
class ListReply<T> extends Reply<T> {
  protected readonly mostBytes = MAX_LISTING_BYTES;
  readonly #reader: ReplyReader<T>;
  readonly #named: string | undefined;
  #taken: Promise<() => void> | undefined;

  /** `named` is the endpoint, if a tenant named it. */
  constructor(deps: ReplyDeps<T>, reader: ReplyReader<T>, named: string | undefined) {
    super(deps);
    this.#reader = reader;
    this.#named = named;
  }

  protected onHeaders(): void {}

  protected onBytes(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    try {
      this.#reader.write(chunk);
    } catch (error) {
      controller.abort(error as Error);
      return;
    }
    if (this.#named !== undefined && !this.#taken && this.bytes > FREE_BYTES) void this.#admit(controller, this.#named);
  }

  protected value(): T {
    return this.#reader.end();
  }

  protected override onEnd(): void {
    void this.#taken?.then(
      (release) => release(),
      () => undefined,
    );
  }

  async #admit(controller: Dispatcher.DispatchController, named: string): Promise<void> {
    const since = this.deps.clock.monotonic();
    controller.pause();
    this.#taken = NAMED_STORE_REPLIES.take(named, MAX_LISTING_BYTES);
    try {
      await this.#taken;
      this.begun += this.deps.clock.monotonic() - since;
      controller.resume();
    } catch (error) {
      controller.abort(error as Error);
    }
  }
}
