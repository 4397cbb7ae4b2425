import { MIB } from '../runtime/bytes.ts';

/** The resources of a tenant's server that a request and a connection may use. */

/** A JSON body. */
export const JSON_BYTES_MAX = 1024 * 1024;
/** A JSON body of a request without a token: no such request needs a longer one. */
export const ANONYMOUS_JSON_BYTES_MAX = 64 * 1024;
/** Deeper than the JSON of any endpoint; deeper JSON would attack recursive code. */
export const JSON_DEPTH_MAX = 32;
/** A JSON body must arrive within this time; uploads may take as long as they progress. */
export const JSON_BODY_TIMEOUT_MS = 30_000;
/** A form: an id_token with everything that an LMS may send is far shorter. */
export const FORM_BYTES_MAX = 256 * 1024;
/**
 * Twenty times the fields of an LTI 1.1 launch. Each costs koa-body's parser microseconds, and the sender of a form is not yet
 * known.
 */
export const FORM_FIELDS_MAX = 1000;
/** All bodies in memory at once. */
export const BODIES_BYTES_MAX = 48 * MIB;

/** The bytes of a streaming reply that are buffered for a client that does not read; the rest waits at its source. */
export const UNREAD_BYTES = 16 * 1024;

export const HEADER_BYTES_MAX = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 20_000;
/**
 * A connection without traffic in either direction is closed after this time; uploads and downloads may take as long as they
 * progress.
 */
export const SILENCE_TIMEOUT_MS = 120_000;
/** Longer than a proxy keeps its own connections, so that the proxy closes them. */
export const KEEP_ALIVE_MS = 75_000;
/** After a refusal, the time for which the rest of the request is read and dropped. */
export const REFUSED_LINGER_MS = 2_000;
/** When the server stops, the time for running requests to end. */
export const DRAIN_MS = 20_000;
