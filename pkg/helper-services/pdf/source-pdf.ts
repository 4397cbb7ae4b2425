import { Problem } from '../../api/problem.ts';
import type { FileRecord } from '../../content/model/files/files.sql.ts';
import { ObjectMissing, type Objects } from '../../store/s3/objects.ts';
import type { SentFile } from '../calls/multipart-body.ts';
import { requireConvertible } from './pdf-refusals.ts';
import { isPdf, PdfScan } from './pdf-scan.ts';

const HEAD_BYTES = 1024;

/** A file's PDF on its way from the object store to a helper, scanned as it streams. */
export class SourcePdf implements SentFile {
  readonly name: string;
  readonly size: number;
  readonly #objects: Objects;
  readonly #key: string;
  readonly #takesSigned: boolean;
  readonly #signal: AbortSignal;
  /** All of it was read, and it is neither signed nor encrypted beyond what is allowed. */
  isSeenThrough = false;

  constructor(
    objects: Objects,
    { name, size, blobName }: Pick<FileRecord, 'name' | 'size' | 'blobName'>,
    { takesSigned, signal }: { takesSigned: boolean; signal: AbortSignal },
  ) {
    this.name = name;
    this.size = size;
    this.#objects = objects;
    this.#key = blobName;
    this.#takesSigned = takesSigned;
    this.#signal = signal;
  }

  /** Throws `unsupported_media_type`, `pdf_encrypted`, `pdf_signed`, `not_found` as soon as the scan finds the reason. */
  async *open(): AsyncGenerator<Buffer> {
    const scan = new PdfScan();
    let head = Buffer.alloc(0);
    let isKnown = false;
    for await (const chunk of await this.#read()) {
      if (!isKnown) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES)]);
        isKnown = head.length >= Math.min(HEAD_BYTES, this.size);
        if (isKnown) requirePdf(head);
      }
      scan.add(chunk);
      requireConvertible(scan.marks, this.#takesSigned);
      yield chunk;
    }
    if (!isKnown) requirePdf(head);
    this.isSeenThrough = true;
  }

  async #read(): Promise<AsyncIterable<Buffer>> {
    try {
      const { body } = await this.#objects.get(this.#key, { signal: this.#signal });
      return body as AsyncIterable<Buffer>;
    } catch (error) {
      throw error instanceof ObjectMissing ? new Problem('not_found', 'The file no longer exists.', { cause: error }) : error;
    }
  }
}

function requirePdf(head: Buffer): void {
  if (!isPdf(head)) throw new Problem('unsupported_media_type', 'The file is not a PDF, whatever its name says.');
}
