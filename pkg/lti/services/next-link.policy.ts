/** A link of a Link header: its target, and its parameters with names in lower case. */
interface Link {
  readonly target: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Returns the address of the next page: the target of the first link with the relation `next` (RFC 8288), in any notation;
 * undefined: this page is the last. A relative target is resolved against the page's address. Moodle puts relations between
 * typographic quotes.
 */
export function nextPage(header: string | readonly string[] | undefined, page: string): string | undefined {
  const next = linksOf(straightened([header ?? ''].flat().join(', '))).find(isNext);
  return next && (URL.parse(next.target.trim(), page)?.href ?? next.target);
}

/** A link with an anchor is about another page. */
const isNext = ({ parameters }: Link): boolean =>
  !parameters.has('anchor') && (parameters.get('rel') ?? '').toLowerCase().split(/\s+/).includes('next');

/** A header arrives with one character for each byte. */
function straightened(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  return Buffer.from(header, 'latin1')
    .toString('utf8')
    .replaceAll(/[\u201c\u201d\u201e\u201f]/g, '"');
}

function linksOf(header: string): Link[] {
  const links: Link[] = [];
  for (let at = header.indexOf('<'); at >= 0;) {
    const end = header.indexOf('>', at);
    if (end < 0) break;
    const { parameters, rest } = parametersAt(header, end + 1);
    links.push({ target: header.slice(at + 1, end), parameters });
    at = header.indexOf('<', rest);
  }
  return links;
}

/** Sticky, so that each part of a header is scanned once. */
const PARAMETER = /\s*;\s*([^\s=;,"<>]+)?\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;

/** Returns the parameters; the first counts if several have the same name (RFC 8288 §3.3). */
function parametersAt(header: string, from: number): { parameters: Map<string, string>; rest: number } {
  const parameters = new Map<string, string>();
  let rest = from;
  for (;;) {
    PARAMETER.lastIndex = rest;
    const found = PARAMETER.exec(header);
    if (!found) return { parameters, rest };
    rest = PARAMETER.lastIndex;
    const [, name = '', quoted, plain = ''] = found;
    if (name !== '' && !parameters.has(name.toLowerCase()))
      parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? plain);
  }
}

/**
 * Returns an address from an answer of the LMS if it may be requested: it must be at the host of the service's own address, which
 * the LMS signed. Returns undefined otherwise. Some LMSs behind a proxy write http instead of https.
 */
export function addressAtHost(text: string, service: string): string | undefined {
  const [url, own] = [URL.parse(text), new URL(service)];
  if (!url || url.href.length > ADDRESS_MAX) return undefined;
  if (url.protocol === 'http:' && own.protocol === 'https:' && url.hostname === own.hostname && url.port === '')
    url.protocol = 'https:';
  url.hash = '';
  return url.origin === own.origin && url.username === '' && url.password === '' ? url.href : undefined;
}

export const ADDRESS_MAX = 2048;
