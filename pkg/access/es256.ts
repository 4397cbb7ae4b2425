import { type KeyObject, sign } from 'node:crypto';

/** The bytes of a number of P-256. */
const NUMBER_BYTES = 32;

/**
 * An ES256 signature: R and S, 32 bytes each (RFC 7518 §3.4). node:crypto returns DER, and needs more than twice the CPU time for
 * this form (`dsaEncoding`); jose's way through WebCrypto needs seven times as much.
 */
export const es256 = (text: string, key: KeyObject): Buffer => rAndS(sign('sha256', Buffer.from(text), key));

/** ECDSA-Sig-Value (RFC 3279 §2.2.3) is SEQUENCE { r INTEGER, s INTEGER }; for P-256 each length is one byte. */
export function rAndS(der: Buffer): Buffer {
  const rLength = der[3] ?? 0;
  const s = 4 + rLength + 2;
  return Buffer.concat([unsigned(der.subarray(4, 4 + rLength)), unsigned(der.subarray(s, s + (der[s - 1] ?? 0)))]);
}

/** A positive INTEGER has no more bytes than it needs, and a leading zero if its first bit would be set. */
function unsigned(integer: Buffer): Buffer {
  const digits = integer.subarray(Math.max(0, integer.length - NUMBER_BYTES));
  return Buffer.concat([Buffer.alloc(NUMBER_BYTES - digits.length), digits]);
}
