/**
 * The reason why a request to an external address failed.
 *
 * - `url_refused`: not an http or https URL, or one that contains a user name or password
 * - `address_refused`: the host is, resolves to or was reached at a private address
 * - `plain_http_refused`: http to an address that no allowed range opens
 * - `request_refused`: a header or the method is malformed, or one that a caller may not set
 * - `dns_failed`, `connect_failed`, `connect_timeout`, `tls_failed`: no connection; nothing of the request was sent
 * - `connection_lost`: the connection ended before the reply did; the receiver may have acted on the request
 * - `timeout`: the first byte or the whole reply took too long
 * - `reply_too_large`: headers or body exceed their limit
 * - `bad_reply`: the reply is not HTTP/1.1
 * - `aborted`: the caller's signal was aborted, or the client was closed
 */
export type EgressErrorCode =
  | 'url_refused'
  | 'address_refused'
  | 'plain_http_refused'
  | 'request_refused'
  | 'dns_failed'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  | 'connection_lost'
  | 'timeout'
  | 'reply_too_large'
  | 'bad_reply'
  | 'aborted';

/**
 * The only error that the guarded client throws for failures of the other side, the address or the caller's request.
 * A tenant may read the message: it names the host, never a path, a query, a header, a body or a resolved address.
 * `cause` may contain them, and belongs in no reply.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;
  /** The status of the reply, if its headers had arrived before it failed. */
  readonly status: number | undefined;

  constructor(code: EgressErrorCode, message: string, more: { cause?: unknown; status?: number | undefined } = {}) {
    super(message, { cause: more.cause });
    this.code = code;
    this.status = more.status;
  }
}

/**
 * Error codes of undici and Node, mapped to the codes above. An unlisted error is an internal error and is rethrown unchanged.
 */
const CODES: Readonly<Record<string, readonly [EgressErrorCode, string]>> = {
  UND_ERR_HEADERS_OVERFLOW: ['reply_too_large', 'sent more headers than are accepted'],
  HPE_HEADER_OVERFLOW: ['reply_too_large', 'sent more headers than are accepted'],
  UND_ERR_SOCKET: ['connection_lost', 'ended the connection before its reply was whole'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['connection_lost', 'ended the connection before its reply was whole'],
  ECONNRESET: ['connection_lost', 'ended the connection before its reply was whole'],
  ETIMEDOUT: ['connection_lost', 'stopped answering before its reply was whole'],
  EHOSTUNREACH: ['connection_lost', 'went out of reach before its reply was whole'],
  ENETUNREACH: ['connection_lost', 'went out of reach before its reply was whole'],
  ENETDOWN: ['connection_lost', 'went out of reach before its reply was whole'],
  EPIPE: ['connection_lost', 'ended the connection before the request was sent'],
  // undici's parser fails with this on a 101 that names no protocol.
  ERR_ASSERTION: ['bad_reply', 'does not speak HTTP/1.1'],
  UND_ERR_INVALID_ARG: ['request_refused', 'cannot be sent a malformed method or header'],
  UND_ERR_NOT_SUPPORTED: ['request_refused', 'cannot be sent this method or header'],
  UND_ERR_ABORTED: ['aborted', 'did not finish its reply: the program is shutting down'],
  UND_ERR_CLOSED: ['aborted', 'was sent nothing: the program is shutting down'],
  UND_ERR_DESTROYED: ['aborted', 'was sent nothing: the program is shutting down'],
};

/** Converts `error` to an EgressError, with the reply's status if it is known; returns any other error unchanged. */
export function egressErrorOf(error: unknown, host: string, status: number | undefined): unknown {
  if (error instanceof EgressError) {
    return status === undefined ? error : new EgressError(error.code, error.message, { cause: error.cause, status });
  }
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  // A parser's error contains the received bytes; as a cause they would be logged.
  if (name === 'HTTPParserError' && code !== 'HPE_HEADER_OVERFLOW')
    return new EgressError('bad_reply', `${host} does not speak HTTP/1.1`, { status });
  const mapped = typeof code === 'string' ? CODES[code] : undefined;
  return mapped === undefined ? error : new EgressError(mapped[0], `${host} ${mapped[1]}`, { cause: error, status });
}
