import type { SecretData } from '../../secrets.ts';
import type { Passwords } from '../secrets/generated-password.ts';

/**
 * The data of Secret `<tenant>-database`. A change of the role that is put off (`isPutOff`) leaves its former password valid:
 * then the Secret of before, which opens it, stays, or pods that start meanwhile could not log in.
 */
export function databaseSecret(url: string, { next }: Passwords, before: SecretData | undefined, isPutOff: boolean): SecretData {
  if (next !== undefined) return { url, nextPassword: next };
  return isPutOff && before ? before : { url };
}
