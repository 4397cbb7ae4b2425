import { timingSafeEqual } from 'node:crypto';
import { foreignCursor, type Page } from '../../api/paging.ts';
import type { Sealer } from '../../runtime/sealing.ts';
import type { LmsCalls, Operation } from './lms-calls.ts';
import { type Asked, unusable } from './lms-problems.policy.ts';
import { addressAtHost, nextPage } from './next-link.policy.ts';

/**
 * Maximum of LMS pages that one page of ours may read; relevant if most of them have fewer items than requested, or none that
 * match.
 */
const PAGES_MAX = 20;
/** Maximum length of an LMS page's path and query, so that our cursor can hold it. */
const POSITION_MAX = 1_300;

/** A list of an LMS from which our pages are made. */
export interface LmsList<T> {
  /** The address of its first page. */
  readonly url: string;
  readonly mediaType: string;
  readonly asked: Asked;
  /** Parameters of every page; an LMS may omit them from the address of the next one. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Returns the items of a page; without it, the page itself is the list. Undefined: the page has none. Throws Problem. */
  readonly items?: (body: unknown) => readonly unknown[] | undefined;
  /** Reads an item of the LMS; undefined: it was not asked for. Throws Problem. */
  readonly read: (item: unknown) => T | undefined;
  /** The values that a cursor is bound to. */
  readonly of: readonly string[];
}

/** The start of a page of ours: an offset in items within a page of the LMS. */
interface Position {
  readonly url: string;
  readonly skip: number;
}

interface Deps {
  readonly calls: LmsCalls;
  readonly sealer: Sealer;
}

/**
 * Returns a page of a list that an LMS stores. The LMS's pages may be smaller or larger than ours, or empty. The cursor contains
 * the address of the LMS's page, which may be the only way there. An HMAC proves that the cursor is ours: nobody else can choose
 * an address that we ask. Throws Problem.
 */
export async function lmsPage<T>(
  deps: Deps,
  operation: Operation,
  list: LmsList<T>,
  query: { limit: number; cursor?: string | undefined },
): Promise<Page<T>> {
  const { limit } = query;
  const data: T[] = [];
  let position: Position | undefined =
    query.cursor === undefined ? { url: first(list, limit), skip: 0 } : positionOf(deps, list, query.cursor);
  const seen = new Set<string>();
  for (let pages = 0; position && data.length < limit && pages < PAGES_MAX; pages += 1) {
    seen.add(position.url);
    position = await readPage(deps, operation, list, position, { data, limit });
    if (position?.skip === 0 && seen.has(position.url)) throw unusable('its pages form a loop');
  }
  if (position && data.length === 0) throw unusable(`${PAGES_MAX} pages of its list are empty`);
  const next = position ? cursorOf(deps, list, position) : null;
  return { data, pagination: { limit, next_cursor: next, has_more: next !== null } };
}

/** Adds the items of an LMS page to `data`, and returns the position after them. */
async function readPage<T>(
  { calls }: Deps,
  operation: Operation,
  list: LmsList<T>,
  { url, skip }: Position,
  { data, limit }: { data: T[]; limit: number },
): Promise<Position | undefined> {
  const { headers, body } = await calls.request(operation, { method: 'GET', url, asked: list.asked, accept: list.mediaType });
  const items = list.items ? list.items(body) : body;
  if (!Array.isArray(items)) throw unusable('it is not a list');
  for (let at = skip; at < items.length; at += 1) {
    if (data.length === limit) return { url, skip: at };
    const item = list.read(items[at]);
    if (item !== undefined) data.push(item);
  }
  const next = nextPage(headers['link'], url);
  if (next === undefined) return undefined;
  const address = addressAtHost(next, list.url);
  if (address === undefined) throw unusable('its next page is at another host, or has no valid address');
  return { url: withQuery(address, list.query), skip: 0 };
}

const first = <T>({ url, query }: LmsList<T>, limit: number): string => withQuery(url, { ...query, limit: String(limit) });

/** Keeps the existing part of the address byte for byte. */
export function withQuery(address: string, query: LmsList<unknown>['query']): string {
  const url = new URL(address);
  const added = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || url.searchParams.has(name) ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  if (added.length > 0) url.search = [url.search.slice(1), ...added].filter((part) => part !== '').join('&');
  return url.href;
}

const PURPOSE = 'lms-pages';
const positionText = (url: string): string => `${new URL(url).pathname}${new URL(url).search}`;
const proofs = ({ sealer }: Deps, { of }: LmsList<unknown>, at: string, skip: number): string[] =>
  sealer.hmacs(PURPOSE, [JSON.stringify([...of, at, skip])]);

function cursorOf(deps: Deps, list: LmsList<unknown>, { url, skip }: Position): string {
  const at = positionText(url);
  if (at.length > POSITION_MAX) throw unusable('the address of its next page is too long');
  return Buffer.from(JSON.stringify([at, skip, proofs(deps, list, at, skip)[0]])).toString('base64url');
}

function positionOf(deps: Deps, list: LmsList<unknown>, cursor: string): Position {
  const [at, skip, proof] = partsOf(cursor);
  if (typeof at !== 'string' || typeof skip !== 'number' || typeof proof !== 'string' || !/^[0-9a-f]{64}$/.test(proof))
    throw foreignCursor();
  if (!proofs(deps, list, at, skip).some((one) => timingSafeEqual(Buffer.from(one), Buffer.from(proof)))) throw foreignCursor();
  // Built from the origin, since a path that begins with two slashes would name a host.
  return { url: new URL(`${new URL(list.url).origin}${at}`).href, skip };
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
