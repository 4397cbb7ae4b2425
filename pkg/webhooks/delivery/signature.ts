import { createHmac, createSecretKey } from 'node:crypto';
import { standardKey } from '../sealing.ts';

export interface Signing {
  readonly body: string;
  /** The event's uuid: the same at every resend. */
  readonly messageId: string;
  readonly at: Date;
  readonly secret: string;
  /** Signs too while a rotation overlaps. */
  readonly previousSecret: string | null;
}

/**
 * The headers by which a receiver knows us: the hex HMAC-SHA256 of the body, keyed by the secret's bytes as given,
 * and the trio of Standard Webhooks 1.0 (id, Unix seconds, `v1,` and base64 for each secret that holds).
 */
export function signatureHeaders({ body, messageId, at, secret, previousSecret }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = `${messageId}.${timestamp}.${body}`;
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  // Node takes several times as long to begin with bytes as with a key object.
  const standard = (text: string): string =>
    createHmac('sha256', createSecretKey(standardKey(text)))
      .update(signed)
      .digest('base64');
  return {
    'x-carrel-signature': createHmac('sha256', secret).update(body).digest('hex'),
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((key) => `v1,${standard(key)}`).join(' '),
  };
}
