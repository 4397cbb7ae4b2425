import { JSON_BYTES_MAX, JSON_DEPTH_MAX } from '../size-and-time-limits.ts';
import { invalid, Problem } from '../../api/problem.ts';
import { bodyParser } from './koa-body.ts';

/**
 * Parses a JSON body. These are a 400: text that is not UTF-8 or not JSON, nesting past JSON_DEPTH_MAX, a key `__proto__`,
 * numbers that a double cannot hold exactly (integers above 2^53−1, infinities), and text that the database cannot store (NUL,
 * lone surrogates).
 */
export async function parseJson(bytes: Buffer): Promise<unknown> {
  const text = decode(bytes);
  requireShallow(text);
  if (text === '') throw notJson(); // koa-body accepts empty text
  const value = await parse(bytes).catch((error: unknown) => {
    throw refusalOf(text) ?? error;
  });
  requireKept(value, []);
  return value;
}

/** Not strict, which would allow only objects and arrays: the endpoint's schema checks the value. */
const parse = bodyParser({ json: true, jsonStrict: false, jsonLimit: JSON_BYTES_MAX });

/** Returns the reason why koa-body refused a text; koa-body does not name the position. */
function refusalOf(text: string): Problem | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return notJson();
  }
  const path = pathOfPrototype(value);
  return path && invalid(nameOf(path), 'is not a known field');
}

const notJson = (): Problem => invalid('body', 'is not JSON');

function pathOfPrototype(value: unknown): string[] | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const [key, item] of Object.entries(value)) {
    const path = pathOfPrototype(item);
    if (path) return [key, ...path];
  }
  return undefined;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('body', 'is not UTF-8');
  }
}

/** Counts brackets outside of strings, so that a deep text is refused before it is parsed. */
function requireShallow(text: string): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) throw invalid('body', `is nested deeper than ${JSON_DEPTH_MAX} levels`);
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
}

/** `path` has the keys down to `value`; it is joined only for a refused value. */
function requireKept(value: unknown, path: string[]): void {
  if (typeof value === 'number') {
    const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
    if (!exact) throw invalid(nameOf(path), 'is an integer beyond ±(2^53-1); send it as a string');
  } else if (typeof value === 'string') {
    if (!isKept(value)) requireText(value, nameOf(path));
  } else if (value !== null && typeof value === 'object') {
    const isArray = Array.isArray(value);
    for (const key in value) {
      if (!isArray && !isKept(key)) requireText(key, nameOf(path));
      path.push(key);
      requireKept((value as Record<string, unknown>)[key], path);
      path.pop();
    }
  }
}

const nameOf = (path: readonly string[]): string => (path.length === 0 ? 'body' : path.join('.'));

const isKept = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Throws a 400 for text that PostgreSQL refuses or would store differently from how it was sent. */
export function requireText(text: string, field: string): void {
  if (text.includes('\0')) throw invalid(field, 'holds a NUL character');
  if (!text.isWellFormed()) throw invalid(field, 'is not well-formed Unicode');
}

/** The refusal of a body that is too long. */
export const tooLarge = (limit: number): Problem => new Problem('payload_too_large', `The body is larger than ${limit} bytes.`);
