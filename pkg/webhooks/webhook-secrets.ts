import type { Random } from '../runtime/random.ts';

/** The prefix of a secret in Standard Webhooks; base64 of the key follows. */
export const SECRET_PREFIX = 'whsec_';
/** Standard Webhooks: 24 to 64 bytes. */
const SECRET_BYTES = 32;

export const newSecret = (random: Random): string => `${SECRET_PREFIX}${random.bytes(SECRET_BYTES).toString('base64')}`;

/**
 * Returns a secret in the form that libraries of Standard Webhooks take. A secret without the prefix stands for the prefix and
 * its base64 (docs/design/events-and-jobs.md, Webhooks).
 */
export const standardForm = (secret: string): string =>
  secret.startsWith(SECRET_PREFIX) ? secret : `${SECRET_PREFIX}${Buffer.from(secret, 'utf8').toString('base64')}`;

/** Returns the signing key of Standard Webhooks. */
export const standardKey = (secret: string): Buffer => Buffer.from(standardForm(secret).slice(SECRET_PREFIX.length), 'base64');
