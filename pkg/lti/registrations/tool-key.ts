import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { exportJWK } from 'jose/key/export';

/** The key that signs the tool's messages to a platform (RS256), with the values of its row. */
export interface ToolKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  /** SPKI, PEM. */
  readonly publicKey: string;
  /** PKCS#8, PEM; sealed before it is stored. */
  readonly privateKey: string;
}

/** 1EdTech Security Framework §5: RSA, 2048 bits at least. */
const MODULUS_BITS = 2048;

export async function newToolKey(): Promise<ToolKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
  return toolKey(privateKey);
}

/** A key supplied by a person that a tool cannot sign with. */
export class InvalidToolKey extends Error {
  override readonly name = 'InvalidToolKey';
}

/** Reads a key supplied by a person. Throws InvalidToolKey. */
export async function givenToolKey(pem: string): Promise<ToolKey> {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new InvalidToolKey('the value is not a private key in PEM');
  }
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < MODULUS_BITS) {
    throw new InvalidToolKey(`the key must be RSA of ${MODULUS_BITS} bits or more`);
  }
  return toolKey(key);
}

async function toolKey(privateKey: KeyObject): Promise<ToolKey> {
  const publicKey = createPublicKey(privateKey);
  return {
    kid: await calculateJwkThumbprint(await exportJWK(publicKey)),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
