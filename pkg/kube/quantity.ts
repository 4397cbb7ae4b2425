/** Text is not a quantity of Kubernetes, which is a number with a suffix (`500m`, `1Gi`, `1e3`, `0.5`). */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/;
const NANO_DIGITS = 9;

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY_POWERS: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

/** Returns the quantity in billionths; finer fractions are rounded up, as the API server does. Throws QuantityError. */
export function parseQuantity(text: string | number): bigint {
  const match = PATTERN.exec(String(text));
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match ?? [];
  if (!match || whole + fraction === '') throw new QuantityError(`${JSON.stringify(text)} is not a quantity`);
  const binary = BINARY_POWERS[suffix];
  const power = NANO_DIGITS + (binary === undefined ? Number(exponent ?? DECIMAL_EXPONENTS[suffix] ?? 0) : 0) - fraction.length;
  const digits = BigInt(whole + fraction) * (binary === undefined ? 1n : 2n ** binary);
  const nano = power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power));
  return sign === '-' ? -nano : nano;
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** Returns a negative number if `a` is less. Throws QuantityError. */
export function compareQuantities(a: string | number, b: string | number): number {
  const [x, y] = [parseQuantity(a), parseQuantity(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Returns the quantity in whole units, as precisely as a number can: bytes of `1Gi`, cores of `500m`. Throws QuantityError. */
export const quantityToNumber = (text: string | number): number => Number(parseQuantity(text)) / 1e9;

/** Returns true if both are quantities of the same amount. */
export function sameQuantity(a: unknown, b: unknown): boolean {
  if (!isText(a) || !isText(b)) return false;
  try {
    return compareQuantities(a, b) === 0;
  } catch {
    return false;
  }
}

const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** Returns a quantity of bytes, rounded up. */
export const wholeBytes = (quantity: number | string): number => Math.ceil(quantityToNumber(String(quantity)));
