/**
 * Words that this repository does not use although they are tempting: docs/glossary.md has the term of the field for each.
 * Names, comments, logs, messages and docs are searched. Pure; the files come in as text.
 */

/** The words that must not occur, and what to say instead. A pattern names whole words; `i` where the case does not matter. */
const RETIRED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  // Documents that are not in the repository.
  [
    /\b[Dd]esign(: [A-Z`]|(:|,)? section\b| \d)|\bspecification(\.md\b|: )|\bthe specification\b/,
    'the page of docs/design/ that has the rule, and its section',
  ],
  [/\b(the|this|that|each|every|other|of our|one) (house|rooms?|floors?)\b(?! for)/i, 'repository, package, layer'],
  [/\b(doors?|entrance|doorkeeper)\b/i, 'admission, request admission, tenant guard'],
  [/\barrows? (between|of|goes)\b/i, 'import rule'],
  [/belongings/i, 'offboarding'],
  [/inward/i, 'private address'],
  [/\b[Bb]ur(y|ied|ies)\b/, 'dead-letter'],
  [/\bPlaced?\b|\b[a-z]\w*Place\b|\bplace(Of)?[(:]/, 'location, destination, key, slot, parameter … whichever it is'],
  [/\bRoom\b|\broomOf\b|\broom: \w/, 'quota, remaining bytes, free slots'],
  [/\btold\b/i, 'reported, sent, shown … whichever it is'],
  [/\b(letGo\b|let go\b|\w+\.forget\()/, 'release, remove, discard, reset'],
  [/\b(is|are|was|were|means) away\b(?! from)|Error\('away'\)/, 'unavailable'],
];

export interface RetiredWord {
  readonly line: number;
  readonly message: string;
}

/** Returns every retired word in `text`, with its line (from 1). */
export function retiredWords(text: string): RetiredWord[] {
  return text.split('\n').flatMap((content, index) =>
    RETIRED.flatMap(([pattern, instead]) => {
      const found = pattern.exec(content)?.[0];
      return found === undefined ? [] : [{ line: index + 1, message: `"${found}" is a retired word; use: ${instead}` }];
    }),
  );
}
