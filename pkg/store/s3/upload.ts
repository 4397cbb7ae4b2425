import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Readable } from 'node:stream';
import { isAway } from './errors.ts';

export interface UploadTarget {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType?: string;
}

const PARTS_AT_ONCE = 2;
/** The store joins all parts before it answers. */
const COMPLETE_TIMEOUT_MS = 120_000;
/** A small body never makes a buffer of a whole part. */
const FIRST_BUFFER_BYTES = 64 * 1024;

/**
 * Streams a body of any length into one object: by one request when it fits into one part, else as a multipart upload.
 *
 * lib-storage would do it too, but keeps every chunk and joins them anew for every part: twice the garbage, and none of it dies young.
 * Here chunks are copied as they come into at most PARTS_AT_ONCE + 1 buffers of `partBytes`, which are used again and again.
 *
 * Throws what the store or the body threw, or the signal's reason, at once; then nothing is readable, and the body is destroyed.
 */
export async function uploadStream(
  client: S3Client,
  target: UploadTarget,
  body: Readable,
  options: { readonly partBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const upload = new MultipartUpload(client, target);
  const onAbort = (): void => upload.fail(options.signal?.reason);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    // A body that has come to a halt does not hold up the news that the store has gone.
    await Promise.race([sendAll(upload, body, options.partBytes), upload.failed]);
  } catch (error) {
    body.destroy();
    throw await upload.abandon(error);
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
  }
}

async function sendAll(upload: MultipartUpload, body: Readable, partBytes: number): Promise<void> {
  const free: Buffer[] = [];
  let part: Buffer = Buffer.allocUnsafeSlow(Math.min(FIRST_BUFFER_BYTES, partBytes));
  let filled = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length;) {
      if (filled === partBytes) {
        await upload.send(part, (sent) => free.push(sent));
        part = free.pop() ?? Buffer.allocUnsafeSlow(partBytes);
        filled = 0;
      }
      if (filled === part.length) part = grown(part, partBytes);
      const taken = chunk.copy(part, filled, at);
      filled += taken;
      at += taken;
    }
  }
  await upload.end(part.subarray(0, filled));
}

function grown(buffer: Buffer, limit: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(buffer.length * 4, limit));
  buffer.copy(larger);
  return larger;
}

/** The requests of one upload; the first failure ends all of them. */
class MultipartUpload {
  readonly #client: S3Client;
  readonly #target: UploadTarget;
  /** Rejects at the first failure. */
  readonly failed: Promise<never>;
  readonly #ending = new AbortController();
  readonly #parts: CompletedPart[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #uploadId: string | undefined;

  constructor(client: S3Client, target: UploadTarget) {
    this.#client = client;
    this.#target = target;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    promise.catch(() => undefined);
    this.#ending.signal.addEventListener('abort', () => reject(this.#ending.signal.reason as Error), { once: true });
  }

  fail(reason: unknown): void {
    this.#ending.abort(reason);
  }

  /** Sends one part; resolves as soon as the next may be filled. `onSent` gets the buffer back. */
  async send(part: Buffer, onSent: (part: Buffer) => void): Promise<void> {
    this.#ending.signal.throwIfAborted();
    this.#uploadId ??= (await this.#client.send(new CreateMultipartUploadCommand(this.#target))).UploadId;
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

  /** The last part, perhaps the only one; resolves when the object is there. */
  async end(last: Buffer): Promise<void> {
    const { signal } = this.#ending;
    if (this.#uploadId === undefined) {
      signal.throwIfAborted();
      await this.#client.send(new PutObjectCommand({ ...this.#target, Body: last }), { abortSignal: signal });
      return;
    }
    await this.send(last, () => undefined);
    await Promise.all(this.#underWay);
    signal.throwIfAborted();
    const { Bucket, Key } = this.#target;
    // Not broken off: half an answer would leave it open whether the object is there.
    await this.#client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId: this.#uploadId, MultipartUpload: { Parts: this.#parts } }),
      { requestTimeout: COMPLETE_TIMEOUT_MS },
    );
  }

  /** Takes back what was sent; gives the error that began it. From a store that is away nothing can be taken back: whoever sweeps does. */
  async abandon(error: unknown): Promise<unknown> {
    this.fail(error);
    const cause: unknown = this.#ending.signal.reason;
    await Promise.all(this.#underWay);
    if (this.#uploadId === undefined) return cause;
    const { Bucket, Key } = this.#target;
    const taken = this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: this.#uploadId })).catch(() => undefined);
    if (!isAway(cause)) await taken;
    return cause;
  }

  async #sendPart(number: number, part: Buffer): Promise<void> {
    const { Bucket, Key } = this.#target;
    const { ETag } = await this.#client.send(
      new UploadPartCommand({ Bucket, Key, UploadId: this.#uploadId, PartNumber: number + 1, Body: part }),
      { abortSignal: this.#ending.signal },
    );
    this.#parts[number] = { ETag, PartNumber: number + 1 };
  }
}
