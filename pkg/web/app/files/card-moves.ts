interface Size {
  readonly count: number;
  /** Cards side by side. */
  readonly columns: number;
  /** Rows of cards that a screen shows. */
  readonly page: number;
  readonly isRtl: boolean;
}

/**
 * Returns the card to which a key of movement leads; undefined for other keys. Left and right go on in the next line; below a
 * last line that is not full is its last card. Home and End go to the first and last card, with Ctrl along the line.
 */
export function movedCard(at: number, key: string, isMod: boolean, { count, columns, page, isRtl }: Size): number | undefined {
  const last = count - 1;
  const ahead = isRtl ? -1 : 1;
  const lineOf = (index: number): number => Math.floor(index / columns);
  const byLines = (lines: number): number => {
    const line = Math.max(0, Math.min(lineOf(at) + lines, lineOf(last)));
    return line * columns + (at % columns);
  };
  const first = lineOf(at) * columns;
  const targets: Readonly<Record<string, number>> = {
    ArrowRight: at + ahead,
    ArrowLeft: at - ahead,
    ArrowDown: byLines(1),
    ArrowUp: byLines(-1),
    PageDown: byLines(page),
    PageUp: byLines(-page),
    Home: isMod ? first : 0,
    End: isMod ? first + columns - 1 : last,
  };
  const to = Object.hasOwn(targets, key) ? targets[key] : undefined;
  return to === undefined ? undefined : Math.max(0, Math.min(to, last));
}
