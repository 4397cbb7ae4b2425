import { constants, deflateSync, inflateSync } from 'node:zlib';
import { decodePDFRawStream, PDFArray, PDFDict, PDFName, PDFNumber, type PDFObject, PDFRawStream } from '@cantoo/pdf-lib';
import { Refusal } from '../refusal.ts';
import { name } from './document.ts';

/** Maximum decoded size of one stream: a larger one is a bomb, or nothing that these programs need to examine. */
export const MAX_DECODED_BYTES = 128 << 20;

export interface Filter {
  readonly name: string;
  readonly params: PDFDict | undefined;
}

export function filtersOf(dict: PDFDict): Filter[] {
  const filter = dict.lookup(name('Filter'));
  const params = dict.lookup(name('DecodeParms'));
  const paramsAt = (index: number): PDFDict | undefined => {
    const own = params instanceof PDFArray ? params.lookup(index) : index === 0 ? params : undefined;
    return own instanceof PDFDict ? own : undefined;
  };
  const names =
    filter instanceof PDFArray ? filter.asArray().map((_, index) => filter.lookup(index)) : filter === undefined ? [] : [filter];
  return names.map((each, index) => ({ name: each instanceof PDFName ? each.decodeText() : '', params: paramsAt(index) }));
}

/**
 * Decodes with all filters. Returns undefined if one of them is only for images, or unknown. Throws `pdf_too_complex` for a bomb.
 */
export function decoded(stream: PDFRawStream, most = MAX_DECODED_BYTES): Uint8Array | undefined {
  let bytes: Uint8Array | undefined = stream.contents;
  for (const filter of filtersOf(stream.dict)) bytes &&= decodedOnce(bytes, filter, stream.dict, most);
  return bytes;
}

const GENERAL = new Set(['LZWDecode', 'ASCII85Decode', 'ASCIIHexDecode', 'RunLengthDecode']);

function decodedOnce(bytes: Uint8Array, { name: filter, params }: Filter, dict: PDFDict, most: number): Uint8Array | undefined {
  if (filter === 'FlateDecode') {
    const plain = inflated(bytes, most);
    return plain && unpredicted(plain, params);
  }
  if (!GENERAL.has(filter)) return undefined;
  const single = PDFDict.withContext(dict.context);
  single.set(name('Filter'), name(filter));
  if (params) single.set(name('DecodeParms'), params);
  const plain = decodePDFRawStream(PDFRawStream.of(single, bytes)).decode();
  if (plain.length > most) throw bomb(most);
  return unpredicted(plain, params);
}

/** Uses the existing part of a truncated stream, as readers do; returns undefined for garbage. */
export function inflated(bytes: Uint8Array, most: number): Uint8Array | undefined {
  try {
    return inflateSync(bytes, { maxOutputLength: most, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bomb(most);
    return undefined;
  }
}

const bomb = (most: number): Refusal =>
  new Refusal('pdf_too_complex', `A stream of the PDF decodes to more than ${most >> 20} MiB.`);

export const deflated = (bytes: Uint8Array): Uint8Array => deflateSync(bytes, { level: 9, memLevel: 9 });

const integer = (dict: PDFDict | undefined, key: string, otherwise: number): number => {
  const value: PDFObject | undefined = dict?.lookup(name(key));
  return value instanceof PDFNumber ? value.asNumber() : otherwise;
};

/** Undoes PNG predictors; returns undefined for TIFF predictors, which no current program writes. */
function unpredicted(bytes: Uint8Array, params: PDFDict | undefined): Uint8Array | undefined {
  const predictor = integer(params, 'Predictor', 1);
  if (predictor < 2) return bytes;
  if (predictor < 10) return undefined;
  const bits = integer(params, 'Colors', 1) * integer(params, 'BitsPerComponent', 8);
  const rowBytes = Math.ceil((bits * integer(params, 'Columns', 1)) / 8);
  return rowBytes > 0 && rowBytes <= MAX_DECODED_BYTES ? unfiltered(bytes, rowBytes, Math.max(1, bits >> 3)) : undefined;
}

/**
 * Each row has one byte for the kind of filter and `rowBytes` of data (PNG, §9). `step` is the distance to the sample on the
 * left.
 */
function unfiltered(bytes: Uint8Array, rowBytes: number, step: number): Uint8Array {
  const rows = Math.floor((bytes.length + rowBytes) / (rowBytes + 1));
  const plain = new Uint8Array(rows * rowBytes);
  for (let row = 0; row < rows; row += 1) {
    const from = row * (rowBytes + 1);
    const to = row * rowBytes;
    const kind = bytes[from] ?? 0;
    const length = Math.min(rowBytes, bytes.length - from - 1);
    for (let index = 0; index < length; index += 1) {
      const left = index < step ? 0 : (plain[to + index - step] ?? 0);
      const up = row === 0 ? 0 : (plain[to - rowBytes + index] ?? 0);
      const corner = row === 0 || index < step ? 0 : (plain[to - rowBytes + index - step] ?? 0);
      plain[to + index] = (bytes[from + 1 + index] ?? 0) + predicted(kind, left, up, corner);
    }
  }
  return plain;
}

function predicted(kind: number, left: number, up: number, corner: number): number {
  if (kind === 1) return left;
  if (kind === 2) return up;
  if (kind === 3) return (left + up) >> 1;
  if (kind !== 4) return 0;
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
