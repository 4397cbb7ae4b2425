import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Random } from '../../../runtime/random.ts';

/** As Postgres does it (scram_iterations). */
const ITERATIONS = 4096;
const SALT_BYTES = 16;

/**
 * What Postgres keeps of a password (RFC 5803, SCRAM-SHA-256). It is sent in the password's place, so that no statement holds
 * one: a statement that fails lies in the server's log.
 */
export function passwordVerifier(password: string, random: Random): string {
  const salt = random.bytes(SALT_BYTES);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const keyed = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}
