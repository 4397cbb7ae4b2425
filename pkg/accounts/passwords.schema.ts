import { text } from '../api/schemas.ts';

/** At least 8 characters (NIST SP 800-63B); the upper bound keeps hashing cheap. */
export const NewPassword = text(8, 256).meta({
  description: 'must not be one of the 10,000 most common passwords',
  example: 'correct horse battery',
});
