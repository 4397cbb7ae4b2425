import { createPrivateKey, createPublicKey, generatePrimeSync, type KeyObject } from 'node:crypto';

interface RsaKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const EXPONENT = 65_537n;

/** Primes of 1024 bits with the upper two bits set, so that the product of any two has 2048 bits. */
const primes: bigint[] = [];
/** The pair of primes of the next key: (1, 0), (2, 0), (2, 1), (3, 0), … */
let [larger, smaller] = [1, 0];

/**
 * Makes an RSA key of 2048 bits, never the same twice in this process. A pair of primes costs 40 ms of CPU; here a hundred keys
 * use 15 primes. Anyone who knows two keys that share a prime can break both, which does not matter here.
 */
export function newRsaKeys(): RsaKeys {
  const [p, q] = [primeAt(larger), primeAt(smaller)];
  [larger, smaller] = smaller + 1 < larger ? [larger, smaller + 1] : [larger + 1, 0];
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const key = { kty: 'RSA', ...Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, encoded(number)])) };
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function primeAt(index: number): bigint {
  while (primes.length <= index) {
    const prime = generatePrimeSync(1024, { bigint: true });
    if (prime % EXPONENT !== 1n) primes.push(prime);
  }
  return primes[index] ?? 0n;
}

/** Returns the number that, times `value`, is 1 modulo `modulus` (Euclid, extended). */
function inverse(value: bigint, modulus: bigint): bigint {
  let [rest, nextRest] = [modulus, value % modulus];
  let [factor, nextFactor] = [0n, 1n];
  while (nextRest !== 0n) {
    const quotient = rest / nextRest;
    [rest, nextRest] = [nextRest, rest - quotient * nextRest];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return ((factor % modulus) + modulus) % modulus;
}

/** Encodes as Base64urlUInt (RFC 7518 §2). */
function encoded(number: bigint): string {
  const hex = number.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
}
