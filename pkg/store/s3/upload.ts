import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway } from './errors.ts';
import type { ObjectRequests, Stored } from './object-requests.ts';
import { type Ends, endingLate } from './ending-late.ts';
import { sendTimeoutMs, WHOLE_OBJECT_TIMEOUT_MS } from './timeouts.ts';
import type { BufferPool } from './buffer-pool.ts';
import { FIRST_BUFFER_BYTES, UPLOAD_BUFFERS } from './upload-buffers.ts';

export interface UploadTarget {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType?: string;
}

const PARTS_AT_ONCE = 2;
/** Delays between the attempts to abort a failed upload. */
const ABORT_AGAIN_MS = [1_000, 5_000, 25_000, 60_000];
/**
 * A missing upload counts as gone from the second attempt on: until then a part may still be on its way into the store's files.
 */
const SURE_AFTER = 1;

/** Both are for the same store. */
export interface UploadClients {
  readonly client: S3Client;
  readonly requests: ObjectRequests;
}

interface UploadOptions extends Ends {
  /** The owner of the upload; each owner has a share of the buffers. */
  readonly owner: string;
}

/**
 * Streams a body of any length into one object: in one request if it fits into one part, otherwise as a multipart upload.
 *
 * lib-storage could do this too, but it keeps every chunk and joins them for every part: twice the garbage, and none of it dies
 * young. Here, arriving chunks are copied into the buffers that all uploads share. An upload that finds none free stops reading
 * until it has one. It returns each buffer as soon as its part is sent, so that many uploads take turns and do not deadlock.
 *
 * Throws what the store or the body threw, or the signal's reason; nothing is then readable, and the body is destroyed. It throws
 * at once, except while a request makes the whole object (`endingLate`). Also throws StoreUnavailableError if no buffer becomes
 * free in time.
 */
export async function uploadStream(
  clients: UploadClients,
  target: UploadTarget,
  body: Readable,
  options: UploadOptions,
): Promise<Stored> {
  const upload = new MultipartUpload(clients, target, options.until);
  const buffers = new Holding(options.owner, upload.ending);
  const onAbort = (): void => upload.fail(options.signal?.reason);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    // A stalled body must not delay the error of an unavailable store.
    return await Promise.race([sendAll(upload, body, buffers), upload.failed]);
  } catch (error) {
    body.destroy();
    throw await upload.abandon(error);
  } finally {
    buffers.end();
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** Stores bytes in memory in one request. Throws as `uploadStream` does. */
export function putWhole({ client, requests }: UploadClients, target: UploadTarget, body: Buffer, ends: Ends): Promise<Stored> {
  return endingLate(ends, async (cut) => {
    const stored = await requests.put({ key: target.Key, body, contentType: target.ContentType, signal: ends.signal, cut });
    if (stored) return stored;
    ends.signal?.throwIfAborted();
    const requestTimeout = sendTimeoutMs(body.length);
    const reply = await client.send(new PutObjectCommand({ ...target, Body: body }), { requestTimeout, abortSignal: cut });
    return { isEncrypted: reply.ServerSideEncryption !== undefined };
  });
}

async function sendAll(upload: MultipartUpload, body: Readable, buffers: Holding): Promise<Stored> {
  const { small, part: large } = UPLOAD_BUFFERS;
  let part: Buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES);
  let filled = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length;) {
      if (filled === large.size) {
        await upload.send(part, (sent) => buffers.give(sent));
        part = await buffers.take(large);
        filled = 0;
      }
      if (filled === part.length) part = await buffers.exchange(part, part.length < small.size ? small : large);
      const taken = chunk.copy(part, filled, at);
      filled += taken;
      at += taken;
    }
  }
  return upload.end(part.subarray(0, filled));
}

/** The buffers that one upload has from the pools. */
class Holding {
  readonly #owner: string;
  /** Aborted when the upload has failed. */
  readonly #ending: AbortSignal;
  readonly #held = new Map<Buffer, BufferPool>();

  constructor(owner: string, ending: AbortSignal) {
    this.#owner = owner;
    this.#ending = ending;
  }

  async take(pool: BufferPool): Promise<Buffer> {
    const buffer = await pool.take(this.#owner, this.#ending);
    this.#held.set(buffer, pool);
    if (this.#ending.aborted) this.give(buffer);
    this.#ending.throwIfAborted();
    return buffer;
  }

  /** Returns a larger buffer with the same content. */
  async exchange(buffer: Buffer, pool: BufferPool): Promise<Buffer> {
    const larger = await this.take(pool);
    buffer.copy(larger);
    this.give(buffer);
    return larger;
  }

  give(buffer: Buffer): void {
    this.#held.get(buffer)?.give(buffer);
    this.#held.delete(buffer);
  }

  /** Returns all buffers; call this when no request of the upload is running. */
  end(): void {
    for (const buffer of this.#held.keys()) this.give(buffer);
  }
}

/** The requests of one upload; the first failure ends all of them. */
class MultipartUpload {
  readonly #clients: UploadClients;
  readonly #client: S3Client;
  readonly #target: UploadTarget;
  /** Rejects at the first failure. */
  readonly failed: Promise<never>;
  readonly #ending = new AbortController();
  readonly #until: AbortSignal | undefined;
  readonly #parts: CompletedPart[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #creating: Promise<string | undefined> | undefined;
  #uploadId: string | undefined;
  /** The request that makes the object, until it has ended or is ended late. */
  #making: Promise<Stored> | undefined;

  constructor(clients: UploadClients, target: UploadTarget, until: AbortSignal | undefined) {
    this.#clients = clients;
    this.#until = until;
    this.#client = clients.client;
    this.#target = target;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    promise.catch(() => undefined);
    this.#ending.signal.addEventListener('abort', () => reject(this.#ending.signal.reason as Error), { once: true });
  }

  /** Aborted at the first failure. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  fail(reason: unknown): void {
    this.#ending.abort(reason);
  }

  /** Sends one part; resolves as soon as the next may be filled. `onSent` gets the buffer back. */
  async send(part: Buffer, onSent: (part: Buffer) => void): Promise<void> {
    this.#ending.signal.throwIfAborted();
    this.#creating ??= this.#client.send(new CreateMultipartUploadCommand(this.#target)).then(({ UploadId }) => UploadId);
    this.#uploadId ??= await this.#creating;
    this.#ending.signal.throwIfAborted();
    const number = this.#parts.push({}) - 1;
    const sending = this.#sendPart(number, part).then(
      () => onSent(part),
      (error: unknown) => this.fail(error),
    );
    this.#underWay.add(sending);
    void sending.then(() => this.#underWay.delete(sending));
    if (this.#underWay.size >= PARTS_AT_ONCE) await Promise.race(this.#underWay);
    this.#ending.signal.throwIfAborted();
  }

  /** Sends the last part, perhaps the only one; resolves when the object exists. */
  async end(last: Buffer): Promise<Stored> {
    const { signal } = this.#ending;
    const ends = { signal, until: this.#until };
    if (this.#uploadId === undefined) {
      this.#making = putWhole(this.#clients, this.#target, last, ends);
    } else {
      await this.send(last, () => undefined);
      await Promise.all(this.#underWay);
      this.#making = endingLate(ends, (cut) => this.#complete(cut));
    }
    return this.#making;
  }

  async #complete(abortSignal: AbortSignal): Promise<Stored> {
    const { Bucket, Key } = this.#target;
    const reply = await this.#client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId: this.#uploadId, MultipartUpload: { Parts: this.#parts } }),
      { requestTimeout: WHOLE_OBJECT_TIMEOUT_MS, abortSignal },
    );
    return { isEncrypted: reply.ServerSideEncryption !== undefined };
  }

  /**
   * Aborts the multipart upload; returns the original error. Retries in the background until the store confirms, for a minute and
   * a half; the sweep aborts uploads that an unavailable store keeps.
   */
  async abandon(error: unknown): Promise<unknown> {
    this.fail(error);
    const cause: unknown = this.#ending.signal.reason;
    await Promise.all(this.#underWay);
    await this.#making?.catch(() => undefined);
    if (!this.#creating) return cause;
    const first = this.#creating.then((id) => this.#abort(id)).catch(() => undefined);
    void first.then(() => this.#abortUntilGone());
    // A multipart upload that is just being created, or whose store does not answer, is aborted in the background.
    if (this.#uploadId !== undefined && !isAway(cause)) await first;
    return cause;
  }

  /** A store may still accept a part of an aborted request after it was asked to abort the upload. */
  async #abortUntilGone(): Promise<void> {
    const UploadId = await this.#creating?.catch(() => undefined);
    if (UploadId === undefined) return;
    for (const [tried, waitMs] of ABORT_AGAIN_MS.entries()) {
      await sleep(waitMs, undefined, { ref: false });
      await this.#abort(UploadId).catch(() => undefined);
      if (tried >= SURE_AFTER && (await this.#isGone(UploadId))) return;
    }
  }

  async #abort(UploadId: string | undefined): Promise<void> {
    const { Bucket, Key } = this.#target;
    if (UploadId !== undefined) await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  }

  async #isGone(UploadId: string): Promise<boolean> {
    const { Bucket, Key } = this.#target;
    try {
      await this.#client.send(new ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 1 }));
      return false;
    } catch (error) {
      return error instanceof Error && error.name === 'NoSuchUpload';
    }
  }

  async #sendPart(number: number, part: Buffer): Promise<void> {
    const { Bucket, Key } = this.#target;
    const { ETag } = await this.#client.send(
      new UploadPartCommand({ Bucket, Key, UploadId: this.#uploadId, PartNumber: number + 1, Body: part }),
      { abortSignal: this.#ending.signal, requestTimeout: sendTimeoutMs(part.length) },
    );
    this.#parts[number] = { ETag, PartNumber: number + 1 };
  }
}
