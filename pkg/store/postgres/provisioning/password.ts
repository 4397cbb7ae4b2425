import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Random } from '../../../runtime/random.ts';

/** The default of Postgres (scram_iterations). */
const ITERATIONS = 4096;
const SALT_BYTES = 16;

/**
 * Returns the verifier that Postgres stores for a password (RFC 5803, SCRAM-SHA-256). We send it in place of the password,
 * because Postgres logs statements that fail.
 */
export function passwordVerifier(password: string, random: Random): string {
  const salt = random.bytes(SALT_BYTES);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const keyed = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}
