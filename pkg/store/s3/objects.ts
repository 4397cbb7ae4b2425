import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { type ClientOptions, leaveBytesUnsigned, newClient } from './client.ts';
import { isContentKey, MARKER_KEY } from './content-key.ts';
import { Download } from './download.ts';
import type { Ends } from './ending-late.ts';
import { DeleteRefused, isMissing, ListingEndless, ObjectMissing, statusOf, translateError } from './errors.ts';
import { WHOLE_OBJECT_TIMEOUT_MS } from './timeouts.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { objectPage, uploadPage } from './listed-pages.ts';
import { type ListRequest, ObjectRequests, type Stored } from './object-requests.ts';
import { READ_AHEAD_BYTES, READ_INTO_ONE_BUFFER } from './read-buffer.ts';
import { UploadInParts } from './upload-in-parts.ts';
import { putWhole, type UploadClients, uploadStream, type UploadTarget } from './upload.ts';
import { PART_BYTES } from './upload-buffers.ts';

export { newClient } from './client.ts';
export { newKey } from './content-key.ts';
export { DeleteRefused, ObjectMissing } from './errors.ts';

export interface ObjectsOptions extends ClientOptions {
  readonly bucket: string;
  /** The prefix of every key, if a bucket is shared; empty or ending in `/`. */
  readonly prefix?: string;
  /** The limit of one listing, in pages of 1,000 keys; default: 10,000. */
  readonly mostPages?: number;
  readonly clock?: Clock;
}

interface PutOptions {
  /** The number of bytes that must arrive: with fewer or more, nothing is stored. Omitted if unknown. */
  readonly contentLength?: number;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** The owner of the upload: an owner's uploads have at most a third of the buffers. Default: an owner of its own. */
  readonly owner?: string;
}

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly lastModified: Date;
}

/** The body did not have the announced length; nothing was stored. */
class LengthMismatch extends Error {
  override readonly name = 'LengthMismatch';
}

const DELETE_AT_ONCE = 1_000;
/** The limit of one listing: ten million keys, more than a day's objects. */
const MOST_PAGES = 10_000;
/** A page of uploads may begin with an already aborted one this many times. */
const MOST_REPEATS = 5;

/**
 * A tenant's objects.
 *
 * Invariants:
 * - Bytes stream: an upload holds at most three parts of 8 MiB in memory, regardless of its size, and all of a process together
 *   192 MiB; a download holds none.
 * - An upload that fails or is aborted leaves nothing that can be read.
 * - A reply other than an object's bytes is read no slower than 64 KiB per second. A listing is read as it arrives, up to 2 MiB
 *   per page and ten million keys. Replies of stores that tenants named share 32 MiB in the process.
 * - Everything throws StoreUnavailableError within ~10 s if the store does not answer. If a new connection is also slow, this
 *   takes ~13 s (timeouts.ts, twice); an operation that is sending a part of 8 MiB, ~40 s.
 */
export class Objects {
  readonly bucket: string;
  readonly #options: ObjectsOptions;
  readonly #clients: Clients;
  readonly #prefix: string;
  /** Ends every request. */
  readonly #until: AbortSignal | undefined;

  /** `shared`: the parts that `until` passes to another instance for the same storage. */
  constructor(options: ObjectsOptions, shared?: { readonly clients: Clients; readonly until: AbortSignal }) {
    this.bucket = options.bucket;
    this.#options = options;
    this.#prefix = options.prefix ?? '';
    this.#clients = shared?.clients ?? openClients(options);
    this.#until = shared?.until;
  }

  /**
   * Returns the same storage until the signal is aborted. Each request and each download then ends, with StoreUnavailableError if
   * time ran out (AbortSignal.timeout), otherwise with the signal's reason. It uses the connections of this instance, which is
   * the one to close.
   */
  until(signal: AbortSignal): Objects {
    return new Objects(this.#options, { clients: this.#clients, until: anyOf(this.#until, signal) ?? signal });
  }

  /**
   * Stores the whole body under a new key. Throws LengthMismatch, the body's own error, or the signal's reason. After that the
   * key can be deleted: no request that could make the object is under way (`endingLate`).
   */
  async put(key: string, body: Readable | Buffer, options: PutOptions = {}): Promise<Stored & { size: number }> {
    const signal = anyOf(this.#until, options.signal);
    signal?.throwIfAborted();
    const target = {
      Bucket: this.bucket,
      Key: this.#prefix + key,
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
    };
    const clients = this.#clients;
    const ends = { signal, until: this.#until };
    if (Buffer.isBuffer(body) && body.length <= PART_BYTES) return putBytes(clients, target, body, options.contentLength, ends);
    const counter = { bytes: 0 };
    const source = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body;
    let stored: Stored;
    try {
      stored = await uploadStream(
        clients,
        target,
        Readable.from(counted(source, counter, options.contentLength), { objectMode: false }),
        { owner: options.owner ?? key, ...ends },
      );
    } catch (error) {
      source.destroy();
      throw failureOf(error, signal);
    }
    return { ...stored, size: counter.bytes };
  }

  /** Begins an object that is stored part by part, and returns the id for `inParts`. */
  beginParts(key: string, contentType: string): Promise<string> {
    const target = { Bucket: this.bucket, Key: this.#prefix + key, ContentType: contentType };
    return UploadInParts.begin(this.#clients, target, this.#until);
  }

  inParts(key: string, uploadId: string): UploadInParts {
    return new UploadInParts(this.#clients, { Bucket: this.bucket, Key: this.#prefix + key, UploadId: uploadId }, this.#until);
  }

  /**
   * Stores a small body unless the key already has an object; returns whether it did. A store without conditional writes replaces
   * the object.
   */
  async putIfAbsent(key: string, body: Buffer, options: { contentType: string }): Promise<boolean> {
    const target = { Bucket: this.bucket, Key: this.#prefix + key, Body: body, ContentType: options.contentType };
    const { client } = this.#clients;
    try {
      await client.send(new PutObjectCommand({ ...target, IfNoneMatch: '*' }), abortableBy(this.#until));
      return true;
    } catch (error) {
      const status = statusOf(error);
      if (status === 412 || status === 409) return false;
      if (status !== 501 && status !== 400) throw failureOf(error, this.#until);
    }
    await this.#send(key, (http) => client.send(new PutObjectCommand(target), http));
    return true;
  }

  /** `range` is in bytes, `end` included. `length` is the number of bytes in `body`. Throws ObjectMissing. */
  async get(
    key: string,
    options: { range?: { start: number; end: number }; signal?: AbortSignal } = {},
  ): Promise<{ body: Readable; length: number }> {
    const { range, signal } = options;
    const command = new GetObjectCommand({
      Bucket: this.bucket,
      Key: this.#prefix + key,
      ...(range ? { Range: `bytes=${range.start}-${range.end}` } : {}),
    });
    const found = await this.#send(key, (http) => this.#clients.downloads.send(command, http), signal);
    return { body: new Download(found.Body as Readable, this.#until), length: found.ContentLength ?? 0 };
  }

  async head(key: string): Promise<StoredObject | null> {
    try {
      const command = new HeadObjectCommand({ Bucket: this.bucket, Key: this.#prefix + key });
      const found = await this.#send(key, (http) => this.#clients.client.send(command, http));
      return { key, size: found.ContentLength ?? 0, lastModified: found.LastModified ?? new Date(0) };
    } catch (error) {
      if (error instanceof ObjectMissing) return null;
      throw error;
    }
  }

  /** Missing objects are not an error. Throws DeleteRefused at the first one that could not be deleted. */
  async delete(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETE_AT_ONCE) {
      const batch = keys.slice(from, from + DELETE_AT_ONCE).map((key) => ({ Key: this.#prefix + key }));
      const command = new DeleteObjectsCommand({ Bucket: this.bucket, Delete: { Objects: batch, Quiet: true } });
      const result = await this.#send('', (http) => this.#clients.client.send(command, http));
      const failed = result.Errors?.find(({ Code }) => Code !== 'NoSuchKey');
      if (failed) throw new DeleteRefused(failed.Key ?? '', failed.Code ?? '', failed.Message ?? '');
    }
  }

  /** Copies within the bucket, without transferring the bytes here. Throws ObjectMissing. */
  async copy(from: string, to: string): Promise<Stored> {
    const source = `${this.bucket}/${this.#prefix}${from}`.split('/').map(encodeURIComponent).join('/');
    const command = new CopyObjectCommand({ Bucket: this.bucket, Key: this.#prefix + to, CopySource: source });
    const { ServerSideEncryption } = await this.#send(from, (http) =>
      this.#clients.client.send(command, { ...http, requestTimeout: WHOLE_OBJECT_TIMEOUT_MS }),
    );
    return { isEncrypted: ServerSideEncryption !== undefined };
  }

  /**
   * Lists all objects except the marker, in the keys' order; pages are fetched on demand. `after` is the last key of an earlier
   * listing.
   */
  async *list(options: { prefix?: string; after?: string } = {}): AsyncGenerator<StoredObject> {
    const { mostPages = MOST_PAGES } = this.#options;
    let token: string | undefined;
    for (let pages = 0; pages < mostPages; pages += 1) {
      const prefix = this.#prefix + (options.prefix ?? '');
      const query = {
        'list-type': '2',
        prefix,
        ...(options.after === undefined ? {} : { 'start-after': this.#prefix + options.after }),
        ...(token === undefined ? {} : { 'continuation-token': token }),
      };
      const refusal = new ListObjectsV2Command({ Bucket: this.bucket, Prefix: prefix, MaxKeys: 1 });
      const page = await this.#list({ operation: 'ListObjectsV2', query, reader: objectPage }, (http) =>
        this.#clients.client.send(refusal, http),
      );
      for (const { key: whole, size, lastModified } of page.objects) {
        const key = whole.slice(this.#prefix.length);
        if (!isTemporary(whole) && key !== MARKER_KEY) yield { key, size, lastModified };
      }
      if (page.nextToken === undefined) return;
      // The same page again, endlessly.
      if (page.nextToken === token) break;
      token = page.nextToken;
    }
    throw new ListingEndless(this.bucket);
  }

  /**
   * Aborts the multipart uploads below `prefix` that a dead program left; their parts are deleted. `inUse` returns those of a
   * page's keys whose uploads continue.
   */
  async abandonUploads(
    prefix: string,
    inUse: (keys: readonly string[]) => Promise<ReadonlySet<string>> = noneInUse,
  ): Promise<void> {
    const { mostPages = MOST_PAGES } = this.#options;
    let first = '';
    let after: string | undefined;
    for (let pages = 0, repeats = 0; pages < mostPages && repeats < MOST_REPEATS; pages += 1) {
      const whole = this.#prefix + prefix;
      const query = { uploads: '', prefix: whole, ...(after === undefined ? {} : { 'key-marker': after }) };
      const refusal = new ListMultipartUploadsCommand({ Bucket: this.bucket, Prefix: whole, MaxUploads: 1 });
      const page = await this.#list({ operation: 'ListMultipartUploads', query, reader: uploadPage }, (http) =>
        this.#clients.client.send(refusal, http),
      );
      const keyOf = (upload: { readonly key: string }): string => upload.key.slice(this.#prefix.length);
      const going = page.uploads.length === 0 ? new Set<string>() : await inUse(page.uploads.map(keyOf));
      for (const upload of page.uploads) {
        const { key: Key, id: UploadId } = upload;
        // Uploads that are not Carrel's, or continue, stay, so the next page begins after them.
        if (!isContentKey(keyOf(upload)) || going.has(keyOf(upload))) {
          after = Key;
          continue;
        }
        const abort = new AbortMultipartUploadCommand({ Bucket: this.bucket, Key, UploadId });
        await this.#send('', (http) => this.#clients.client.send(abort, http)).catch((error: unknown) => {
          if (!(error instanceof ObjectMissing)) throw error;
        });
      }
      if (!page.isTruncated) return;
      const { id = '' } = page.uploads[0] ?? {};
      repeats = id === first ? repeats + 1 : 0;
      first = id;
    }
    throw new ListingEndless(this.bucket);
  }

  async ping(): Promise<void> {
    await this.#send('', (http) => this.#clients.client.send(new HeadBucketCommand({ Bucket: this.bucket }), http));
  }

  close(): void {
    const { client, requests, downloads } = this.#clients;
    client.destroy();
    requests.close();
    downloads.destroy();
  }

  /** Returns a page; if the store refuses it, throws what `refusal` of the SDK throws. */
  async #list<T>(request: Omit<ListRequest<T>, 'signal'>, refusal: (http: HttpOptions) => Promise<unknown>): Promise<T> {
    const page = await this.#clients.requests.list({ ...request, signal: this.#until }).catch((error: unknown) => {
      throw failureOf(error, this.#until);
    });
    if (page !== null) return page;
    await this.#send('', refusal);
    throw new StoreUnavailableError('s3', new Error('the store refused a listing, but not when it was asked for the reason'));
  }

  async #send<T>(key: string, call: (http: HttpOptions) => Promise<T>, own?: AbortSignal): Promise<T> {
    const signal = anyOf(this.#until, own);
    try {
      signal?.throwIfAborted();
      return await call(abortableBy(signal));
    } catch (error) {
      throw isMissing(error) ? new ObjectMissing(key) : failureOf(error, signal);
    }
  }
}

const noneInUse = (): Promise<ReadonlySet<string>> => Promise.resolve(new Set());

interface Clients extends UploadClients {
  /** Separate connections: stalled readers do not delay uploads. */
  readonly downloads: S3Client;
}

function openClients(options: ObjectsOptions): Clients {
  const client = newClient(options);
  leaveBytesUnsigned(client);
  return {
    client,
    requests: new ObjectRequests(options, options.clock ?? systemClock),
    downloads: newClient(options, { onread: READ_INTO_ONE_BUFFER, highWaterMark: READ_AHEAD_BYTES }),
  };
}

const anyOf = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one && other ? AbortSignal.any([one, other]) : (one ?? other);

/** The options that the SDK accepts beside a command. */
interface HttpOptions {
  readonly abortSignal?: AbortSignal;
}

const abortableBy = (signal: AbortSignal | undefined): HttpOptions => (signal ? { abortSignal: signal } : {});

/** Returns the error that ended a request: if its signal is aborted, the signal's reason. */
const failureOf = (error: unknown, signal: AbortSignal | undefined): unknown =>
  translateError(signal?.aborted ? signal.reason : error);

/** versitygw lists unfinished multipart uploads among the objects. */
const isTemporary = (key: string): boolean => key.includes('.sgwtmp');

async function putBytes(
  clients: UploadClients,
  target: UploadTarget,
  body: Buffer,
  contentLength: number = body.length,
  ends: Ends = {},
): Promise<Stored & { size: number }> {
  if (body.length !== contentLength) throw new LengthMismatch(`${body.length} bytes came, ${contentLength} were announced`);
  try {
    return { ...(await putWhole(clients, target, body, ends)), size: body.length };
  } catch (error) {
    throw failureOf(error, ends.signal);
  }
}

async function* counted(body: Readable, counter: { bytes: number }, expected: number | undefined): AsyncGenerator<Buffer> {
  for await (const chunk of body as AsyncIterable<Buffer>) {
    counter.bytes += chunk.length;
    if (expected !== undefined && counter.bytes > expected)
      throw new LengthMismatch(`more than the announced ${expected} bytes came`);
    yield chunk;
  }
  if (expected !== undefined && counter.bytes < expected)
    throw new LengthMismatch(`${counter.bytes} of the announced ${expected} bytes came`);
}
