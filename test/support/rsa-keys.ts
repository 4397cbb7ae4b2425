import { generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface RsaKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** More than any one test compares with each other. */
const KEYS = 8;

/**
 * RSA keys of 2048 bits, of which each costs 0.1 to 0.5 s of CPU: the first KEYS are made, then they come again in turn. Each caller has a ring of
 * its own, so that what must not be the same key never is.
 */
export function keyRing(): () => RsaKeys {
  const ring: RsaKeys[] = [];
  let next = 0;
  return () => (ring[next++ % KEYS] ??= generateKeyPairSync('rsa', { modulusLength: 2048 }));
}
