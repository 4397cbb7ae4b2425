import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { SealingKey } from '../runtime/sealing.ts';

/**
 * The signature of a manifest: HMAC-SHA256 over its JSON text without this field. The key is derived from a platform key and used
 * for nothing else.
 */
export const Signature = z.object({ key: z.string().max(32), hmac: z.string().regex(/^[0-9a-f]{64}$/) });
type Signature = z.output<typeof Signature>;

const hmacOf = (document: object, platform: SealingKey): Buffer =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', platform.key, 'carrel', 'backup-signature', 32)))
    .update(JSON.stringify(document))
    .digest();

export const signed = <T extends object>(document: T, platform: SealingKey): T & { signature: Signature } => ({
  ...document,
  signature: { key: platform.id, hmac: hmacOf(document, platform).toString('hex') },
});

/**
 * Returns why an owner of one of `keys` may not have written a manifest, or undefined if one has. `document` comes from
 * JSON.parse: the comparison covers the object that is used, not its text.
 */
export function signatureFault(document: object, keys: readonly SealingKey[]): string | undefined {
  const { signature, ...rest } = document as { signature?: unknown };
  const { data: found } = Signature.safeParse(signature);
  if (!found) return 'is not signed, so anyone who can write to the repository may have made it';
  const named = keys.filter(({ id }) => id === found.key);
  if (named.length === 0) return `is signed with platform key ${found.key}, which is not among CARREL_PLATFORM_KEYS`;
  const hmac = Buffer.from(found.hmac, 'hex');
  if (named.some((key) => timingSafeEqual(hmacOf(rest, key), hmac))) return undefined;
  return `does not match its signature by platform key ${found.key}: it was altered, or another installation has such a key`;
}
