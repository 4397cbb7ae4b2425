/** Where a PDF must begin (PDF 1.7, appendix H.3, note 13). */
const BEGIN_BYTES = 1024;
const BEGIN = '%PDF-';

/** Whether these first bytes are those of a PDF. */
export const isPdf = (head: Buffer): boolean => head.subarray(0, BEGIN_BYTES).includes(BEGIN);

/** What a conversion would spoil, or cannot read. */
export interface PdfMarks {
  readonly isSigned: boolean;
  readonly isEncrypted: boolean;
}

/** Longer than what is looked for, blanks between its tokens included. */
const OVERLAP_BYTES = 128;
/**
 * The range that a signature covers: of a signature dictionary alone, whose place in the file is not compressed, since the signer
 * fills it in.
 */
const SIGNATURE = /\/ByteRange\s*\[/;
/** Of a trailer, or of a cross-reference stream, neither of which can be compressed or encrypted. */
const ENCRYPTION = /\/Encrypt\s*(\d+\s+\d+\s+R\b|<<)/;

/**
 * Looks for the marks of signed and encrypted PDFs in bytes as they come. It needs no structure, so a PDF with a broken
 * cross-reference table is seen through too; a PDF that has another one within it uncompressed shows the marks of both.
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
