import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** The source of values that must not be guessed. It is injected everywhere, so that a test can repeat them. */
export interface Random {
  bytes(count: number): Buffer;
  /** Returns `count` random bytes as 2 × `count` lower-case hex digits. */
  hex(count: number): string;
  /** Returns `count` random bytes as base64url without padding. */
  base64url(count: number): string;
  uuid(): string;
  /** Returns a number in [0, 1), for jitter, never for secrets. */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  hex: (count) => randomBytes(count).toString('hex'),
  base64url: (count) => randomBytes(count).toString('base64url'),
  uuid: () => randomUUID(),
  fraction: () => randomInt(0, 2 ** 47) / 2 ** 47,
};
