import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
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
  S3Client,
} from '@aws-sdk/client-s3';
import type { Random } from '../../runtime/random.ts';
import { StoreUnavailableError } from '../unavailable.ts';
import { DeleteRefused, isMissing, ObjectMissing, translateError } from './errors.ts';
import { ANSWER_TIMEOUT_MS, WHOLE_OBJECT_TIMEOUT_MS } from './timeouts.ts';
import { uploadStream } from './upload.ts';

export { DeleteRefused, ObjectMissing } from './errors.ts';

export interface ObjectsOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** In front of every key, where a bucket is shared; empty or ending in `/`. */
  readonly prefix?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface PutOptions {
  /** Bytes that must come: fewer or more and nothing is kept. Left out where it is not known. */
  readonly contentLength?: number;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** Whose upload it is: no owner's uploads have more than a third of the buffers. Left out: an owner of its own. */
  readonly owner?: string;
}

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly lastModified: Date;
}

/** The body was not of the announced length; nothing was kept. */
export class LengthMismatch extends Error {
  override readonly name = 'LengthMismatch';
}

const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A connection that nobody uses is let go after 10 s, also that of a client which nobody has any more. Each download holds one until its
 * reader is through, so there are as many as a server can have downloads at once; one more waits, and is told that the store is away.
 */
const KEPT = { keepAlive: true, maxSockets: 2_000, timeout: 10_000 };
const ATTEMPTS = 2;
/** A download whose next bytes take so long is given up. */
const STALL_TIMEOUT_MS = 10_000;
const DELETE_AT_ONCE = 1_000;

/** A key for a new object: random, never a file's name; a folder of 256 in front, since some stores keep a folder a directory. */
export const newKey = (random: Random): string => `${random.hex(1)}/${random.base64url(24)}`;

/**
 * A tenant's objects.
 *
 * Invariants:
 * - Bytes stream: an upload holds at most three parts of 8 MiB in memory, whatever its size, and all of a process together 192 MiB; a download holds none.
 * - An upload that fails or is aborted leaves nothing that can be read.
 * - Everything throws StoreUnavailableError within ~10 s when the store does not answer; what sends a part of 8 MiB just then, within ~40 s.
 */
export class Objects {
  readonly bucket: string;
  readonly #client: S3Client;
  readonly #prefix: string;

  constructor(options: ObjectsOptions) {
    this.bucket = options.bucket;
    this.#prefix = options.prefix ?? '';
    this.#client = newClient(options);
    leaveBytesUnsigned(this.#client);
  }

  /** Stores the whole body under a new key. Throws LengthMismatch, the body's own error, or the signal's reason. */
  async put(key: string, body: Readable | Buffer, options: PutOptions = {}): Promise<{ size: number }> {
    const counter = { bytes: 0 };
    options.signal?.throwIfAborted();
    const source = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body;
    const target = {
      Bucket: this.bucket,
      Key: this.#prefix + key,
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
    };
    try {
      await uploadStream(this.#client, target, Readable.from(counted(source, counter, options.contentLength), { objectMode: false }), {
        owner: options.owner ?? key,
        signal: options.signal,
      });
    } catch (error) {
      source.destroy();
      options.signal?.throwIfAborted();
      throw translateError(error);
    }
    return { size: counter.bytes };
  }

  /** `range` in bytes, `end` included. `length` is how many bytes `body` gives. Throws ObjectMissing. */
  async get(
    key: string,
    options: { range?: { start: number; end: number }; signal?: AbortSignal } = {},
  ): Promise<{ body: Readable; length: number }> {
    const { range, signal } = options;
    const found = await this.#send(key, () =>
      this.#client.send(
        new GetObjectCommand({
          Bucket: this.bucket,
          Key: this.#prefix + key,
          ...(range ? { Range: `bytes=${range.start}-${range.end}` } : {}),
        }),
        signal ? { abortSignal: signal } : {},
      ),
    );
    return { body: guarded(found.Body as Readable), length: found.ContentLength ?? 0 };
  }

  async head(key: string): Promise<StoredObject | null> {
    try {
      const found = await this.#send(key, () => this.#client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: this.#prefix + key })));
      return { key, size: found.ContentLength ?? 0, lastModified: found.LastModified ?? new Date(0) };
    } catch (error) {
      if (error instanceof ObjectMissing) return null;
      throw error;
    }
  }

  /** Those that are not there are fine. Throws DeleteRefused at the first that could not be deleted. */
  async delete(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETE_AT_ONCE) {
      const batch = keys.slice(from, from + DELETE_AT_ONCE).map((key) => ({ Key: this.#prefix + key }));
      const result = await this.#send('', () =>
        this.#client.send(new DeleteObjectsCommand({ Bucket: this.bucket, Delete: { Objects: batch, Quiet: true } })),
      );
      const failed = result.Errors?.find(({ Code }) => Code !== 'NoSuchKey');
      if (failed) throw new DeleteRefused(failed.Key ?? '', failed.Code ?? '', failed.Message ?? '');
    }
  }

  /** Within the bucket, without the bytes coming here. Throws ObjectMissing. */
  async copy(from: string, to: string): Promise<void> {
    const source = `${this.bucket}/${this.#prefix}${from}`.split('/').map(encodeURIComponent).join('/');
    await this.#send(from, () =>
      this.#client.send(new CopyObjectCommand({ Bucket: this.bucket, Key: this.#prefix + to, CopySource: source }), {
        requestTimeout: WHOLE_OBJECT_TIMEOUT_MS,
      }),
    );
  }

  /** In the keys' order, pages fetched as they are asked for. `after` is the last key of an earlier listing. */
  async *list(options: { prefix?: string; after?: string } = {}): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const page = await this.#send('', () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.bucket,
            Prefix: this.#prefix + (options.prefix ?? ''),
            ...(options.after === undefined ? {} : { StartAfter: this.#prefix + options.after }),
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        ),
      );
      for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
        if (!isTemporary(Key)) yield { key: Key.slice(this.#prefix.length), size: Size, lastModified: LastModified };
      }
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** Gives up every upload under way below `prefix`, which a program that died has left; its parts go. */
  async abandonUploads(prefix: string): Promise<void> {
    for (;;) {
      const page = await this.#send('', () =>
        this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.bucket, Prefix: this.#prefix + prefix })),
      );
      for (const { Key, UploadId } of page.Uploads ?? []) {
        await this.#send('', () => this.#client.send(new AbortMultipartUploadCommand({ Bucket: this.bucket, Key, UploadId })));
      }
      if (!page.IsTruncated) return;
    }
  }

  async ping(): Promise<void> {
    await this.#send('', () => this.#client.send(new HeadBucketCommand({ Bucket: this.bucket })));
  }

  close(): void {
    this.#client.destroy();
  }

  async #send<T>(key: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw isMissing(error) ? new ObjectMissing(key) : translateError(error);
    }
  }
}

/** Path style, since a host per bucket wants DNS; checksums only where the protocol demands them, since we keep our own SHA-256. */
export const newClient = (options: Omit<ObjectsOptions, 'bucket' | 'prefix'>): S3Client =>
  new S3Client({
    endpoint: options.endpoint,
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    forcePathStyle: true,
    maxAttempts: ATTEMPTS,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      httpAgent: new HttpAgent(KEPT),
      httpsAgent: new HttpsAgent(KEPT),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });

/**
 * Bytes go without a SHA-256 in the signature (`UNSIGNED-PAYLOAD`), a quarter of an upload's CPU: TLS guards them on the way, where there is any,
 * and whoever keeps files has their SHA-256.
 */
const leaveBytesUnsigned = (client: S3Client): void =>
  client.middlewareStack.add(
    (next, context) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> };
      if (context.commandName === 'UploadPartCommand' || context.commandName === 'PutObjectCommand')
        headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return next(args);
    },
    { step: 'build', name: 'leaveBytesUnsigned' },
  );

/** versitygw shows a multipart upload under way among the objects. */
export const isTemporary = (key: string): boolean => key.includes('.sgwtmp');

async function* counted(body: Readable, counter: { bytes: number }, expected: number | undefined): AsyncGenerator<Buffer> {
  for await (const chunk of body as AsyncIterable<Buffer>) {
    counter.bytes += chunk.length;
    if (expected !== undefined && counter.bytes > expected) throw new LengthMismatch(`more than the announced ${expected} bytes came`);
    yield chunk;
  }
  if (expected !== undefined && counter.bytes < expected)
    throw new LengthMismatch(`${counter.bytes} of the announced ${expected} bytes came`);
}

/** Ends a download whose bytes stop coming. A reader that is slow is no stall: time runs only while we wait for the store. */
function guarded(body: Readable): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    const stalled = (): void => void body.destroy(new StoreUnavailableError('s3', new Error('a download stalled')));
    let timer = setTimeout(stalled, STALL_TIMEOUT_MS);
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        clearTimeout(timer);
        yield chunk;
        timer = setTimeout(stalled, STALL_TIMEOUT_MS);
      }
    } catch (error) {
      throw translateError(error);
    } finally {
      clearTimeout(timer);
    }
  }
  // A generator that is ended before its first read never comes to its `finally`.
  return Readable.from(bytes(), { objectMode: false }).once('close', () => body.destroy());
}
