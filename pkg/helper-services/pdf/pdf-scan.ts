/** The bytes within which a PDF must begin (PDF 1.7, appendix H.3, note 13). */
const BEGIN_BYTES = 1024;
const BEGIN = '%PDF-';

/** Returns whether these are the first bytes of a PDF. */
export const isPdf = (head: Buffer): boolean => head.subarray(0, BEGIN_BYTES).includes(BEGIN);

/** Properties that a conversion would destroy, or cannot read. */
export interface PdfMarks {
  readonly isSigned: boolean;
  readonly isEncrypted: boolean;
}

/** Longer than the patterns, including blanks between their tokens. */
const OVERLAP_BYTES = 128;
/** The range that a signature covers. Only a signature dictionary has it, uncompressed, because the signer fills it in. */
const SIGNATURE = /\/ByteRange\s*\[/;
/** Part of a trailer or of a cross-reference stream, neither of which can be compressed or encrypted. */
const ENCRYPTION = /\/Encrypt\s*(\d+\s+\d+\s+R\b|<<)/;

/**
 * Scans bytes for the marks of signed and encrypted PDFs as they arrive. It needs no structure, so it also works on a PDF with a
 * broken cross-reference table. A PDF that contains another one uncompressed shows the marks of both.
 */
export class PdfScan {
  #rest = '';
  #isSigned = false;
  #isEncrypted = false;

  get marks(): PdfMarks {
    return { isSigned: this.#isSigned, isEncrypted: this.#isEncrypted };
  }

  add(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1');
    this.#isSigned ||= SIGNATURE.test(text);
    this.#isEncrypted ||= ENCRYPTION.test(text);
    this.#rest = text.slice(-OVERLAP_BYTES);
  }
}
