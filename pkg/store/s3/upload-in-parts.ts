import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { StoreUnavailableError } from '../unavailable.ts';
import { isMissing, translateError } from './errors.ts';
import { WHOLE_OBJECT_TIMEOUT_MS } from './timeouts.ts';
import type { UploadClients } from './upload.ts';
import { MIB } from '../../runtime/bytes.ts';

/** S3 accepts 10,000 (Amazon S3 multipart upload limits). */
const PARTS_MAX = 9_000;
const PART_BYTES_MIN = 8 * MIB;
/** The limit of one object (Amazon S3 multipart upload limits). */
export const OBJECT_MAX_BYTES = 5 * 1024 ** 4;

/** Returns the size of each part except the last, for an object of this size. */
export const partBytesOf = (bytes: number): number => Math.max(PART_BYTES_MIN, Math.ceil(bytes / PARTS_MAX / MIB) * MIB);

/** The store does not have the multipart upload, or not with these parts: it was completed or aborted. */
export class UploadGone extends Error {
  override readonly name = 'UploadGone';

  constructor(key: string, cause: unknown) {
    super(`there is no such multipart upload of ${key}`, { cause });
  }
}

/**
 * An object that is stored part by part, by several processes in turn: whoever knows its id continues. Nothing is readable before
 * `complete`. Parts stream and are never in memory. All methods throw StoreUnavailableError, and all except `abort` throw
 * UploadGone.
 */
export class UploadInParts {
  readonly #clients: UploadClients;
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string };
  readonly #until: AbortSignal | undefined;

  constructor(
    clients: UploadClients,
    target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string },
    until?: AbortSignal,
  ) {
    this.#clients = clients;
    this.#target = target;
    this.#until = until;
  }

  static async begin(
    clients: UploadClients,
    target: { readonly Bucket: string; readonly Key: string; readonly ContentType: string },
    until: AbortSignal | undefined,
  ): Promise<string> {
    try {
      const { UploadId } = await clients.client.send(new CreateMultipartUploadCommand(target), abortableBy(until));
      if (UploadId === undefined) throw new Error(`the store gave no id for the upload of ${target.Key}`);
      return UploadId;
    } catch (error) {
      throw translateError(until?.aborted ? until.reason : error);
    }
  }

  /**
   * Sends the part of this number, counted from 1, instead of an existing one, and returns its entity tag. Throws what the body
   * threw, or the signal's reason.
   *
   * The signal interrupts a request only while bytes of it are missing. A store may finish one that it has received, even after
   * `abort`, and keep the part (S3 API, AbortMultipartUpload), so this waits for its reply.
   */
  async put(number: number, body: AsyncIterable<Buffer>, size: number, signal: AbortSignal): Promise<string> {
    const { Key, UploadId } = this.#target;
    let broken: { readonly error: unknown } | undefined;
    let missing = size;
    const counted = async function* (): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of body) {
          missing -= chunk.length;
          yield chunk;
        }
      } catch (error) {
        broken = { error };
        throw error;
      }
    };
    const cut = new AbortController();
    const onAbort = (): void => {
      if (missing > 0) cut.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    let cause: unknown;
    try {
      signal.throwIfAborted();
      const sent = { key: Key, uploadId: UploadId, number, body: counted(), size, signal: cut.signal };
      const etag = await this.#clients.requests.putPart(sent);
      if (etag) return etag;
    } catch (error) {
      signal.throwIfAborted();
      if (broken) throw broken.error;
      cause = error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
    // A store that refuses a part may close the connection before its reply has arrived.
    await this.#send(() =>
      this.#clients.client.send(new ListPartsCommand({ ...this.#target, MaxParts: 1 }), abortableBy(this.#until)),
    );
    throw new StoreUnavailableError('s3', new Error(`the store did not take part ${number} of an upload`, { cause }));
  }

  /** Creates the object from all parts, whose entity tags are in order. */
  async complete(etags: readonly string[]): Promise<void> {
    const Parts = etags.map((ETag, at) => ({ ETag, PartNumber: at + 1 }));
    const command = new CompleteMultipartUploadCommand({ ...this.#target, MultipartUpload: { Parts } });
    // Not interrupted: half an answer would leave it unknown whether the object exists.
    await this.#send(() => this.#clients.client.send(command, { requestTimeout: WHOLE_OBJECT_TIMEOUT_MS }));
  }

  /** Deletes its parts; missing ones are not an error. Call it when no part is being sent. */
  async abort(): Promise<void> {
    try {
      await this.#send(() => this.#clients.client.send(new AbortMultipartUploadCommand(this.#target), abortableBy(this.#until)));
    } catch (error) {
      if (!(error instanceof UploadGone)) throw error;
    }
  }

  async #send(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (isMissing(error) || /^(NoSuchUpload|InvalidPart|InvalidPartOrder|EntityTooSmall)$/.test((error as Error).name))
        throw new UploadGone(this.#target.Key, error);
      throw translateError(this.#until?.aborted ? this.#until.reason : error);
    }
  }
}

const abortableBy = (signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } =>
  signal ? { abortSignal: signal } : {};
