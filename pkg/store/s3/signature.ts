import { createHash, createHmac } from 'node:crypto';

/**
 * The request to sign. Header names may be in any case. The body is as sent, or `unsigned` for bytes outside of the signature.
 */
interface UnsignedRequest {
  readonly method: string;
  /** The path as sent, escaped by `escape` between its slashes. */
  readonly url: Pick<URL, 'host' | 'pathname' | 'searchParams'>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | typeof unsigned;
}
export const unsigned = Symbol('UNSIGNED-PAYLOAD');

interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** AWS Signature Version 4 for service s3: returns all headers to send, including `authorization`. */
export function sign(request: UnsignedRequest, key: SigningKey, now: Date): Record<string, string> {
  const time = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const scope = [time.slice(0, 8), key.region, 's3', 'aws4_request'];
  const payload = request.body === unsigned ? 'UNSIGNED-PAYLOAD' : sha256(request.body);
  const headers: Record<string, string> = { host: request.url.host, 'x-amz-content-sha256': payload, 'x-amz-date': time };
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = value.trim();
  const names = Object.keys(headers).sort();
  const canonical = [
    request.method,
    request.url.pathname,
    canonicalQuery(request.url),
    ...names.map((name) => `${name}:${headers[name] ?? ''}`),
    '',
    names.join(';'),
    payload,
  ].join('\n');
  const signature = hmac(
    derivedKey(key, scope),
    ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n'),
  ).toString('hex');
  headers['authorization'] =
    `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope.join('/')},SignedHeaders=${names.join(';')},Signature=${signature}`;
  return headers;
}

/** Returns the key that signs requests of one day; it is derived once a day for each `key` object. */
function derivedKey(key: SigningKey, scope: readonly string[]): Buffer {
  const [day] = scope as [string];
  const known = derivedKeys.get(key);
  if (known?.day === day) return known.secret;
  const secret = scope.reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${key.secretAccessKey}`) as Buffer;
  derivedKeys.set(key, { day, secret });
  return secret;
}
const derivedKeys = new WeakMap<SigningKey, { readonly day: string; readonly secret: Buffer }>();

/** Percent-encodes everything but the unreserved characters, as Signature Version 4 does. */
export const escape = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns the query in the form in which it is signed and may be sent. */
export const canonicalQuery = (url: Pick<URL, 'searchParams'>): string =>
  [...url.searchParams]
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .sort()
    .join('&');
