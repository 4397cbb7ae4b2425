import type { IncomingMessage } from 'node:http';
import { FORM_BYTES_MAX, FORM_FIELDS_MAX } from '../size-and-time-limits.ts';
import { Problem } from '../../api/problem.ts';
import { mediaType, readBytes } from './body.ts';
import { bodyParser } from './koa-body.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Reads a form that a browser posted. `owner` is the caller whose share of the memory for bodies it uses. Problems: 400, 408,
 * 413, 415, 503.
 */
export async function readForm(request: IncomingMessage, owner: string): Promise<Map<string, string[]>> {
  if (mediaType(request) !== FORM_TYPE) throw new Problem('unsupported_media_type', `This address takes ${FORM_TYPE}.`);
  return readBytes(request, { owner, maxBytes: FORM_BYTES_MAX }, parseForm);
}

/**
 * Returns the values of each name in their order, as the standard decodes them (WHATWG URL §5.1), without pairs that have no
 * name. Problem: 413.
 *
 * koa-body's parser (qs) reads structure into names: `a[b]`, `a.b`, `[a]`, `__proto__`; and it ends the name of `a=b]=c` at the
 * second `=`. So its decoder returns `encodedKey`, in which nothing has a special meaning.
 */
export async function parseForm(bytes: Buffer): Promise<Map<string, string[]>> {
  const parameters = new Map<string, string[]>();
  for (const [key, found] of Object.entries(await readPairs(bytes))) {
    const [name = '', begun = ''] = key.split('=').map(decodeURIComponent);
    let values = parameters.get(name);
    if (values === undefined) parameters.set(name, (values = []));
    for (const value of [found].flat()) values.push(begun + value);
  }
  return parameters;
}

async function readPairs(bytes: Buffer): Promise<Readonly<Record<string, string | string[]>>> {
  try {
    return (await parse(bytes)) as Readonly<Record<string, string | string[]>>;
  } catch (error) {
    throw error instanceof RangeError
      ? new Problem('payload_too_large', `The form has more than ${FORM_FIELDS_MAX} fields.`)
      : error;
  }
}

const parse = bodyParser({
  urlencoded: true,
  formLimit: FORM_BYTES_MAX,
  queryString: {
    allowDots: false,
    depth: 0,
    parseArrays: false,
    plainObjects: true,
    parameterLimit: FORM_FIELDS_MAX,
    throwOnLimitExceeded: true,
    arrayLimit: FORM_FIELDS_MAX,
    decoder: (text, _decoder, _charset, type) => (type === 'key' ? encodedKey(text) : decode(text)),
  },
});

/**
 * Returns `name=` with the name re-encoded, then, encoded, the beginning of the value that qs cut off; null if there is no name.
 */
function encodedKey(text: string): string | null {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  if (name === '') return null;
  const begun = at < 0 ? '' : `${decode(text.slice(at + 1))}=`;
  return `${encodeURIComponent(decode(name))}=${encodeURIComponent(begun)}`;
}

/** Invalid percent-encoding stays; invalid UTF-8 becomes U+FFFD. */
const decode = (text: string): string => text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, decodeRun);

const decodeRun = (run: string): string => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8');
