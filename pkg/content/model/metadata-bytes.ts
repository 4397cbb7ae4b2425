import { KIB } from '../../runtime/bytes.ts';

/**
 * Returns the bytes that an entry counts to the owner of its file: key and value in UTF-8, in whole KiB, so that an empty one
 * counts too.
 */
export const entryBytes = (key: string, value: string | null): number =>
  Math.ceil((Buffer.byteLength(key) + Buffer.byteLength(value ?? '')) / KIB) * KIB;

/** The same of a row `m` of file_metadata. */
export const ENTRY_BYTES = `((octet_length(m.key) + coalesce(octet_length(m.value), 0) + ${KIB - 1}) / ${KIB} * ${KIB})`;
