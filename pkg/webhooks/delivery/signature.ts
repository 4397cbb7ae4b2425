import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { standardKey } from '../webhook-secrets.ts';

/**
 * Node takes several times as long to start with the bytes of a key as with a key object, so each endpoint's key objects are made
 * once.
 */
export interface SigningKeys {
  /** The secret's bytes as given. */
  readonly hex: KeyObject;
  /** The keys of all valid secrets: two while a rotation overlaps. */
  readonly standard: readonly KeyObject[];
}

export const signingKeys = (secret: string, previousSecret: string | null): SigningKeys => ({
  hex: createSecretKey(secret, 'utf8'),
  standard: (previousSecret === null ? [secret] : [secret, previousSecret]).map((text) => createSecretKey(standardKey(text))),
});

export interface Signing {
  readonly body: string;
  /** The event's uuid: the same at every resend. */
  readonly messageId: string;
  readonly at: Date;
  readonly keys: SigningKeys;
}

/**
 * Returns the headers by which a receiver recognises us:
 * - the hex HMAC-SHA256 of the body, keyed by the secret's bytes as given;
 * - the three headers of Standard Webhooks 1.0: id, Unix seconds, and `v1,` with base64 for each valid secret.
 */
export function signatureHeaders({ body, messageId, at, keys }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = `${messageId}.${timestamp}.${body}`;
  return {
    'x-carrel-signature': createHmac('sha256', keys.hex).update(body).digest('hex'),
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.standard.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' '),
  };
}
