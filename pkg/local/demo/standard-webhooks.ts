import { createHmac, timingSafeEqual } from 'node:crypto';

/** A delivery as it arrived. */
interface Delivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Verifies as Standard Webhooks 1.0 does: one of the signatures of version 1 must match, and the time must lie within 5 minutes.
 */
export function verifiesStandard({ body, headers }: Delivery, secret: string): boolean {
  const timestamp = headers['webhook-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${timestamp}.${body}`).digest('base64');
  const given = (headers['webhook-signature'] ?? '').split(' ').map((entry) => entry.split(','));
  return given.some(([version, signature]) => version === 'v1' && isSame(expected, signature ?? ''));
}

/** Takes as long for a wrong text as for the right one. */
export const isSame = (one: string, other: string): boolean =>
  Buffer.byteLength(one) === Buffer.byteLength(other) && timingSafeEqual(Buffer.from(one), Buffer.from(other));
