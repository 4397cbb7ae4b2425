import { z } from 'zod';
import { NAME_MAX_CHARACTERS, nameFault, normalName } from './names.policy.ts';

/** A name in a request: comes out in NFC, or the request is a 400 that says what is wrong with it. */
export const Name = z
  .string()
  .overwrite(normalName)
  .refine((name) => nameFault(name) === null, { error: (issue) => nameFault(String(issue.input)) ?? 'is not a name' })
  .meta({
    minLength: 1,
    maxLength: NAME_MAX_CHARACTERS,
    example: 'thesis.pdf',
    description: 'NFC; no / and no \\, no control characters, none that control the direction of text; something visible, neither . nor ..',
  });
