import { Refusal } from './refusal.ts';

/**
 * The ways to name the next page. `odd quotes`: typographic ones and all relations, as Moodle does for line items. `no quotes`,
 * `relative link` and `several links` are valid by RFC 8288. `link drops filters` is Moodle's roster. With `link loops` every
 * page links to itself, with `endless links` always to another one. `next`: that address follows, whoever owns it.
 */
export type LinkManner =
  | 'odd quotes'
  | 'no quotes'
  | 'relative link'
  | 'several links'
  | 'link drops filters'
  | 'link loops'
  | 'endless links'
  | { readonly next: string };

export interface Page<T> {
  readonly items: readonly T[];
  readonly isLast: boolean;
  readonly here: URL;
  readonly first: URL;
  /** The address of the items after these, if there are any. */
  readonly beyond: URL;
}

/** Returns the part of `all` that `limit` and our own `from` select, at most `pageSize` (AGS 2.0 §3.2.4, NRPS 2.0 §2.4.2). */
export function pageOf<T>(all: readonly T[], here: URL, pageSize: number): Page<T> {
  const size = Math.min(whole(here, 'limit', 1) ?? pageSize, pageSize);
  const from = whole(here, 'from', 0) ?? 0;
  const at = (position: number): URL => {
    const url = new URL(here);
    url.searchParams.set('from', String(position));
    return url;
  };
  return { items: all.slice(from, from + size), isLast: from + size >= all.length, here, first: at(0), beyond: at(from + size) };
}

/** Returns a parameter that may occur at most once. */
export function parameter(url: URL, name: string): string | undefined {
  const [value, ...more] = url.searchParams.getAll(name);
  if (more.length > 0) throw new Refusal(400, `${name} occurs twice`);
  return value;
}

function whole(url: URL, name: string, least: number): number | undefined {
  const text = parameter(url, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new Refusal(400, `${name} must be a whole number of at least ${least}`);
  return Number(text);
}

/** Returns the Link header of a page (RFC 8288), if it has one. */
export function linkOf(page: Page<unknown>, manner: unknown): string | undefined {
  if (manner === 'link loops') return `<${page.here.href}>; rel="next"`;
  if (manner === 'endless links') return `<${page.beyond.href}>; rel="next"`;
  if (typeof manner === 'object' && manner !== null && 'next' in manner) return `<${String(manner.next)}>; rel="next"`;
  if (page.isLast) return undefined;
  const next = page.beyond.href;
  if (manner === 'no quotes') return `<${next}>;rel=next`;
  if (manner === 'relative link') return `<${page.beyond.pathname}${page.beyond.search}>; rel="next"`;
  if (manner === 'several links')
    return `<${page.first.href}>; title="first, <x>; rel=next"; rel="first", <${next}>; rel="prefetch next"`;
  if (manner === 'link drops filters') return `<${withoutFilters(page.beyond).href}>; rel="next"`;
  if (manner === 'odd quotes') {
    const all = `<${page.first.href}>; rel=“first”, <${page.here.href}>; rel=“canonical”, <${next}>; rel=“next”`;
    // A header consists of bytes, and Node writes each character as one.
    return Buffer.from(all, 'utf8').toString('latin1');
  }
  return `<${next}>; rel="next"`;
}

function withoutFilters(url: URL): URL {
  const bare = new URL(url);
  bare.search = new URLSearchParams([...url.searchParams].filter(([name]) => name === 'limit' || name === 'from')).toString();
  return bare;
}
