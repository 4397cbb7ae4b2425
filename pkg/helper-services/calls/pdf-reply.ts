import type { Readable } from 'node:stream';
import type { HelperKind } from '../helper.ts';
import { problemOfError, rejected } from './replies.policy.ts';

const BEGIN = Buffer.from('%PDF-');
const END = '%%EOF';
/** Readers look for the end in this many last bytes (PDF 1.7, appendix H.3, note 18). */
const TAIL_BYTES = 1024;

/**
 * Yields the bytes of `body` as they arrive. Throws `helper_rejected` as soon as they are not a PDF, and at their end if the
 * PDF's end is missing. `failed` receives the error that it throws.
 */
export async function* checkedPdf(kind: HelperKind, body: Readable, failed: (error: unknown) => void): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  const isBegun = (): boolean => head.length >= BEGIN.length;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (!isBegun()) {
        head = Buffer.concat([head, chunk.subarray(0, BEGIN.length)]);
        if (isBegun() && !head.subarray(0, BEGIN.length).equals(BEGIN))
          throw rejected(kind, 'answered with something other than a PDF');
      }
      tail = chunk.length >= TAIL_BYTES ? chunk.subarray(-TAIL_BYTES) : Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
      yield chunk;
    }
    if (!isBegun() || !tail.includes(END)) throw rejected(kind, 'answered with a PDF that has no end');
  } catch (error) {
    const problem = problemOfError(kind, error);
    failed(problem);
    throw problem;
  }
}
