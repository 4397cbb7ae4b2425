/** A text that is decoded part by part. */
export class TextParts {
  readonly #decoder: TextDecoder;

  private constructor(encoding: string) {
    this.#decoder = new TextDecoder(encoding);
  }

  /**
   * Chooses the encoding by the first part: by its byte order mark, else UTF-8, else Windows-1252. Returns undefined if the bytes
   * are no text.
   */
  static of(first: Uint8Array): TextParts | undefined {
    const [a, b] = first;
    if (a === 0xff && b === 0xfe) return new TextParts('utf-16le');
    if (a === 0xfe && b === 0xff) return new TextParts('utf-16be');
    if (first.includes(0)) return undefined;
    return new TextParts(isUtf8(first) ? 'utf-8' : 'windows-1252');
  }

  /** Decodes the next part. A character that it has only the beginning of comes with the next one. */
  next(bytes: Uint8Array, isLast: boolean): string {
    return this.#decoder.decode(bytes, { stream: !isLast });
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // `stream`: the last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Returns the lines of a text, without the empty one behind a line break at its end. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}
