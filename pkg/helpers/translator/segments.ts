/**
 * Divides a text into pieces of at most `most` code units, whose concatenation is the text: at line ends if possible, otherwise
 * between sentences, otherwise between words, otherwise anywhere except inside a surrogate pair.
 */
export function segmentsOf(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  const segments: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const length = cutWithin(rest, most);
    segments.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  if (rest !== '') segments.push(rest);
  return segments;
}

function cutWithin(text: string, most: number): number {
  const head = text.slice(0, most);
  for (const end of [/\n/g, /[.!?。！？]\s/g, /\s/g]) {
    let last = 0;
    // A look-ahead for the last one would take quadratic time.
    for (const { index, 0: found } of head.matchAll(end)) if (index > 0) last = index + found.length;
    if (last > 0) return last;
  }
  const isInPair = /[\uD800-\uDBFF]$/.test(head);
  return isInPair ? most - 1 : most;
}

/** Groups neighbours, as many as a request may have. */
export function batchesOf(texts: readonly string[], most: { texts: number; characters: number }): string[][] {
  const batches: string[][] = [];
  let characters = 0;
  for (const text of texts) {
    const batch = batches.at(-1);
    if (batch && batch.length < most.texts && characters + text.length <= most.characters) {
      batch.push(text);
      characters += text.length;
    } else {
      batches.push([text]);
      characters = text.length;
    }
  }
  return batches;
}
