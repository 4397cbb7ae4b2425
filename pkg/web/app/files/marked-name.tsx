import type { ComponentChild } from 'preact';

/** The API sets these around each hit of a search; no name has them otherwise. */
const HIT = /\uE000([^\uE001]*)\uE001/gu;

/** Returns a name with each hit of a search marked. */
export function marked(highlight: string): ComponentChild[] {
  const parts: ComponentChild[] = [];
  let from = 0;
  for (const match of highlight.matchAll(HIT)) {
    parts.push(highlight.slice(from, match.index), <mark key={match.index}>{match[1]}</mark>);
    from = match.index + match[0].length;
  }
  return [...parts, highlight.slice(from)];
}
