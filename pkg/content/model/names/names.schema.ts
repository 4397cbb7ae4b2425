import { z } from 'zod';
import { NAME_MAX_CHARACTERS, nameFault, normalName } from './names.policy.ts';

/**
 * Characters that a name cannot have: `/`, `\\`, control characters, controls of direction, the sign for what could not be read.
 */
const REFUSED = String.raw`/\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd`;
/**
 * Characters that a name may have, but not only. The server has some more beyond U+FFFF, which portable patterns cannot express.
 */
const INVISIBLE = String.raw`\u0020\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u2028\u2029\u202f\u205f-\u2065\u206a-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8`;
/** Something visible that is not a dot; or dots among what is invisible; or three dots and more. */
export const NAME_PATTERN = `^([^${REFUSED}]*[^.${INVISIBLE}${REFUSED}][^${REFUSED}]*|[.${INVISIBLE}]*(\\.[${INVISIBLE}]|[${INVISIBLE}]\\.)[.${INVISIBLE}]*|\\.{3,})$`;

/** A name in a request: converted to NFC; if invalid, the request is a 400 that says why. */
export const Name = z
  .string()
  .overwrite(normalName)
  .refine((name) => nameFault(name) === null, { error: (issue) => nameFault(String(issue.input)) ?? 'is not a name' })
  .meta({
    minLength: 1,
    pattern: NAME_PATTERN,
    maxLength: NAME_MAX_CHARACTERS,
    example: 'thesis.pdf',
    description:
      'NFC; no / and no \\, no control characters, none that control the direction of text; something visible, neither . nor ..',
  });
