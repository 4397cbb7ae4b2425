import { hash } from 'node:crypto';
import { invalid, Problem } from './problem.ts';

/** Returns a strong entity tag of a resource's row, without the quotes: it changes with every revision. */
export const etagOf = (kind: string, uuid: string, revision: number | string): string =>
  hash('sha256', `${kind}:${uuid}:${revision}`, 'base64url').slice(0, 27);

/** Returns a strong entity tag of a text, without the quotes: it changes with every byte of its UTF-8. */
export const etagOfText = (text: string): string => hash('sha256', text, 'base64url').slice(0, 27);

/** The syntax that parseEntityTags accepts, for readers of patterns. */
export const ENTITY_TAGS_PATTERN = String.raw`^(\*|(W/)?"[!#-~\u0080-\u00ff]*"( *, *(W/)?"[!#-~\u0080-\u00ff]*")*)$`;

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/;
const LIST = new RegExp(`^\\s*${TAG.source}\\s*(,\\s*${TAG.source}\\s*)*$`);

/**
 * Parses If-Match or If-None-Match (RFC 9110 §13.1). Returns the opaque tags, `'*'`, or undefined. A malformed list is a 400.
 * Weak tags keep their `W/`.
 */
export function parseEntityTags(field: string, header: string | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  if (!LIST.test(header)) throw invalid(field, 'must be * or a list of quoted entity tags');
  return [...header.matchAll(new RegExp(TAG, 'g'))].map((match) => `${match[1] ?? ''}${match[2] ?? ''}`);
}

/** Throws `precondition_failed` if If-Match was sent and does not name the current tag (strong comparison). */
export function requireMatch(ifMatch: readonly string[] | '*' | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(etag)) return;
  throw new Problem('precondition_failed');
}

/** Returns true if If-None-Match names the current tag (weak comparison), so that a GET is answered by 304. */
export const noneMatchHits = (tags: readonly string[] | '*' | undefined, etag: string): boolean =>
  tags === '*' || (tags?.some((tag) => tag === etag || tag === `W/${etag}`) ?? false);
