/** The translator takes at most 50,000 characters at once; a smaller piece shows progress earlier. */
export const PIECE_MAX = 10_000;

/**
 * Splits a text into pieces of at most `max` characters (code points), each at the last end of a paragraph, else of a line, a
 * sentence or a word.
 */
export function piecesOf(text: string, max = PIECE_MAX): readonly string[] {
  const pieces: string[] = [];
  let rest = Array.from(text);
  while (rest.length > max) {
    const most = rest.slice(0, max).join('');
    const end = endIn(most);
    pieces.push(most.slice(0, end));
    rest = [...Array.from(most.slice(end)), ...rest.slice(max)];
  }
  if (rest.length > 0) pieces.push(rest.join(''));
  return pieces;
}

function endIn(text: string): number {
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = text.lastIndexOf(mark);
    if (at > 0) return at + mark.length;
  }
  return text.length;
}
