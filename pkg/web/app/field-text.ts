import { isEnglish } from '../text/language.ts';
import { type Key, t } from '../text/fields.ts';

/** What the API says of a field, to follow the field's name, and our words for what people meet. */
const OWN_WORDS: readonly (readonly [RegExp, Key])[] = [
  [/^(?:is required|must not be empty)$/, 'empty'],
  [/^must (?:be|have) at least (?<count>\d+) characters$/, 'short'],
  [/^must (?:be|have) at most (?<count>\d+) characters$/, 'long'],
  [/^must not be one of the 10,000 most common passwords$/, 'common'],
  [/^must not be \. or \.\.$/, 'dots'],
  [/^must not contain [/\\]$/, 'slash'],
  [/^must (?:not contain (?:control characters|characters that control the direction of text)|be valid Unicode)$/, 'control'],
  [/^must not consist of spaces and invisible characters alone$/, 'invisible'],
  [/^(?:makes a path of more than \d+ characters|is too long for this folder)$/, 'path'],
];

/** Returns our own words for what the API says of a field; undefined for what people seldom meet. */
export function ownFieldText(message: string): string | undefined {
  for (const [pattern, key] of OWN_WORDS) {
    const found = pattern.exec(message);
    if (found) return t(key, { count: Number(found.groups?.['count'] ?? 0) });
  }
  return undefined;
}

/** Returns what to say at a field for what the API says of it: a whole sentence in the language of the page. */
export function fieldText(message: string): string {
  const own = ownFieldText(message);
  if (own !== undefined) return own;
  if (!isEnglish() || message === '') return t('value');
  const sentence = /^[a-z]/.test(message) ? `This ${message}` : message;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
