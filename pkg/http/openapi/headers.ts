import { type Endpoint, hasField, isList, isStream, problemsOf, type ReplyShape } from '../../api/endpoint.ts';

interface HeaderDescription {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string | number;
}

const text = (description: string, example: string): HeaderDescription => ({ description, schema: { type: 'string' }, example });
const integer = (description: string, example: number): HeaderDescription => ({
  description,
  schema: { type: 'integer' },
  example,
});

/**
 * Every header that a reply of the API may have, besides those that HTTP itself sets (Date, Connection, Content-Type,
 * Content-Length …).
 */
export const HEADERS = {
  'X-Request-Id': text('Finds the request in the log.', '2f1c8a52-0f0e-4f59-9d3c-1f2b8a9c7d10'),
  'X-RateLimit-Limit': integer(
    'The tightest limit. On every reply except 503 `suspended`, which the operator sends, and replies to invalid HTTP.',
    100,
  ),
  'X-RateLimit-Remaining': integer('Remaining requests under this limit.', 99),
  'X-RateLimit-Reset': integer('Unix time in seconds when the limit is fully available again.', 1_769_860_860),
  'Cache-Control': text('RFC 9111.', 'no-store'),
  'Content-Security-Policy': text('What a browser may do with the reply.', "default-src 'none'; frame-ancestors 'none'"),
  'Cross-Origin-Resource-Policy': text('Which sites may embed the reply.', 'same-origin'),
  'Referrer-Policy': text('What a browser sends other sites about this address.', 'no-referrer'),
  'Strict-Transport-Security': text('If the address is https: browsers use https only.', 'max-age=31536000'),
  'X-Content-Type-Options': text('Browsers must not guess the media type.', 'nosniff'),
  ETag: text(
    'Strong entity tag, for If-None-Match and, of what can be changed, If-Match. A list has one as JSON alone.',
    '"3q2-7wAAAAAAAAAAAAAAAAAAAAA"',
  ),
  Link: text(
    'The next page, rel="next" (RFC 8288); absent on the last.',
    '<https://files.example.org/api/v1/files?cursor=eyJzIjoi>; rel="next"',
  ),
  Vary: text('On a long page of a list: the header by which it is compressed or not.', 'Accept-Encoding'),
  'Content-Encoding': text('`gzip` on a long page of a list, for who accepts it; its entity tag is weak then.', 'gzip'),
  Location: text('Address of the new resource.', 'https://files.example.org/api/v1/files/7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11'),
  'Idempotency-Replayed': {
    description: 'This is the reply to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'Set-Cookie': text(
    'At a sign-in the refresh token, for a browser that requested it, and `carrel_known`, which identifies the browser at the ' +
      'next one. At a download by share link `carrel_download`, as X-Share-Download, and with the link of a folder ' +
      '`carrel_share`, as X-Share-Session. Over https their names begin with ' +
      '__Secure-.',
    'carrel_refresh=…; Path=/api/v1/auth; Max-Age=2592000; HttpOnly; SameSite=Strict',
  ),
  'Accept-Ranges': text('Byte ranges are supported.', 'bytes'),
  'Content-Range': text('The range of bytes sent; with 416, the size of the file (RFC 9110 §14.4).', 'bytes 0-99/1048576'),
  'Content-Disposition': text('Save the file under this name (RFC 6266).', 'attachment; filename="thesis.pdf"'),
  'X-Share-Download': text(
    'For the parameter `download` of later ranges, for 24 hours: they do not count again.',
    'v1.p1.dGlja2V0',
  ),
  'X-Share-Session': text(
    'For the header X-Share-Session of later requests by this link, for 24 hours: they need no password, and show ' +
      'what was uploaded with it.',
    'v1.p1.dGlja2V0',
  ),
  'Tus-Resumable': text('The version of tus that the server speaks.', '1.0.0'),
  'Tus-Version': text('The versions of tus that the server speaks.', '1.0.0'),
  'Tus-Extension': text('The extensions of tus that the server supports.', 'creation,termination'),
  'Tus-Max-Size': integer('The largest upload, in bytes.', 83_886_080_000),
  'Tus-Checksum-Algorithm': text('The algorithms of Upload-Checksum.', 'sha256'),
  'Upload-Offset': integer('Bytes of the upload that are stored.', 8_388_608),
  'Upload-Length': integer('Bytes of the whole upload; absent while Upload-Defer-Length is present.', 20_000_000),
  'Upload-Defer-Length': integer('1: the client has not yet stated the length of the upload.', 1),
  'Upload-Metadata': text('As the client sent it.', 'filename dGhlc2lzLnBkZg=='),
  'Upload-Expires': text('When the upload expires unless more bytes come (RFC 9110 §5.6.7).', 'Sat, 31 Jan 2026 12:00:00 GMT'),
  'X-Carrel-File': text('Id of the file that the upload created.', '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11'),
  'Retry-After': integer('Seconds to wait.', 2),
  'WWW-Authenticate': text('How to authenticate (RFC 6750).', 'Bearer'),
  Allow: text('The methods that the path allows.', 'GET, HEAD, POST'),
} as const satisfies Record<string, HeaderDescription>;

export type HeaderName = keyof typeof HEADERS;

/** The headers of every reply; HSTS only if the address is https. */
const ALWAYS = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Cache-Control',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
  'Referrer-Policy',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
] as const satisfies HeaderName[];

const servesRanges = (endpoint: Endpoint): boolean => problemsOf(endpoint).includes('range_not_satisfiable');

/** True if the endpoint serves the file of a share link. */
export const isShared = (endpoint: Endpoint): boolean => problemsOf(endpoint).includes('share_password_required');

const isArchive = (shape: ReplyShape): boolean => shape !== null && isStream(shape) && shape.stream === 'application/zip';

/** Returns the headers of a success. `created`: the reply of this endpoint has a Location. */
export function successHeaders(endpoint: Endpoint, status: number, created: boolean): HeaderName[] {
  const shape = endpoint.replies[status] ?? null;
  const content = servesRanges(endpoint);
  // A 304 has the headers that the 200 would have.
  const isOfList = isList(status === 304 ? (endpoint.replies[200] ?? null) : shape);
  const tagged = content || status === 304 || hasField(shape, 'etag') || (isOfList && endpoint.method === 'get');
  return [
    ...ALWAYS,
    ...(tagged ? (['ETag'] as const) : []),
    ...(isOfList ? (['Link'] as const) : []),
    ...(isOfList && endpoint.compressed ? (['Vary'] as const) : []),
    ...(isOfList && endpoint.compressed && status === 200 ? (['Content-Encoding'] as const) : []),
    ...(status === 201 && created ? (['Location'] as const) : []),
    ...(endpoint.idempotent ? (['Idempotency-Replayed'] as const) : []),
    ...(endpoint.setsCookie ? (['Set-Cookie'] as const) : []),
    ...(content ? (['Accept-Ranges'] as const) : []),
    ...(content || isArchive(shape) ? (['Content-Disposition'] as const) : []),
    ...(content && isShared(endpoint) ? (['X-Share-Download'] as const) : []),
    ...(status === 206 ? (['Content-Range'] as const) : []),
    ...((endpoint.gives ?? []) as HeaderName[]),
  ];
}

export function failureHeaders(status: number, endpoint: Endpoint): HeaderName[] {
  return [
    ...ALWAYS,
    ...([409, 429, 503].includes(status) ? (['Retry-After'] as const) : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
    ...(status === 405 ? (['Allow'] as const) : []),
    ...(status === 416 ? (['Content-Range'] as const) : []),
    ...(endpoint.gives?.includes('Tus-Resumable') ? (['Tus-Resumable', 'Tus-Version'] as const) : []),
  ];
}

export const headerRefs = (names: readonly HeaderName[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
