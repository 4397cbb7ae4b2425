import { PDFName, type PDFObject, PDFRawStream } from '@cantoo/pdf-lib';
import { name } from '../document.ts';
import { decoded, deflated, type Filter, filtersOf, inflated, MAX_DECODED_BYTES } from '../streams.ts';

/** Filters that only convert bytes to text, or compress worse than Flate does. */
const REPLACED = new Set(['ASCII85Decode', 'ASCIIHexDecode', 'LZWDecode', 'RunLengthDecode']);

/** Returns the same stream in fewer bytes, or undefined. */
export function recompressed(stream: PDFRawStream): PDFRawStream | undefined {
  const { dict } = stream;
  // Catalogues read metadata without decoding it.
  if (dict.has(name('F')) || dict.lookup(name('Type')) === PDFName.of('Metadata')) return undefined;
  const filters = filtersOf(dict);
  const smaller = smallerBytes(stream, filters);
  if (!smaller || smaller.bytes.length >= stream.contents.length) return undefined;
  const replaced = dict.clone();
  replaced.set(name('Filter'), name('FlateDecode'));
  if (smaller.params) replaced.set(name('DecodeParms'), smaller.params);
  else replaced.delete(name('DecodeParms'));
  return PDFRawStream.of(replaced, smaller.bytes);
}

function smallerBytes(
  stream: PDFRawStream,
  filters: readonly Filter[],
): { bytes: Uint8Array; params: PDFObject | undefined } | undefined {
  if (filters.length === 0) return { bytes: deflated(stream.contents), params: undefined };
  try {
    const [only] = filters;
    // A predictor's rows stay unchanged: only the compression around them is redone.
    if (filters.length === 1 && only?.name === 'FlateDecode') {
      const plain = inflated(stream.contents, MAX_DECODED_BYTES);
      return plain && { bytes: deflated(plain), params: only.params };
    }
    if (!filters.every((filter) => REPLACED.has(filter.name) || filter.name === 'FlateDecode')) return undefined;
    const plain = decoded(stream);
    return plain && { bytes: deflated(plain), params: undefined };
  } catch {
    return undefined; // A bomb or a broken stream stays unchanged.
  }
}
