import type { SecretData } from '../../secrets.ts';
import type { Passwords } from '../secrets/generated-password.ts';

/**
 * Returns the data of Secret `<tenant>-database`. While a change of the role is postponed (`isPutOff`), its former password stays
 * valid. The former Secret then stays too; otherwise new pods could not log in.
 */
export function databaseSecret(url: string, { next }: Passwords, before: SecretData | undefined, isPutOff: boolean): SecretData {
  if (next !== undefined) return { url, nextPassword: next };
  return isPutOff && before ? before : { url };
}
