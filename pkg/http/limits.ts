/** The limits of what a request, a connection and a requester may use of a tenant's server. Settings that change them: cmd/server/config.ts. */

/** A JSON body. */
export const JSON_BYTES_MAX = 1024 * 1024;
/** A JSON body of a request without a token: nothing that it may ask for is longer. */
export const ANONYMOUS_JSON_BYTES_MAX = 64 * 1024;
/** Deeper than the JSON of any endpoint; deeper JSON would attack recursive code. */
export const JSON_DEPTH_MAX = 32;
/** A JSON body must arrive within this time; uploads may take as long as they move. */
export const JSON_BODY_TIMEOUT_MS = 30_000;
/** A form: an id_token with everything that an LMS may send is far shorter. */
export const FORM_BYTES_MAX = 256 * 1024;
/** Twenty times the fields of an LTI 1.1 launch. Each costs koa-body's parser microseconds, and the sender of a form is not known yet. */
export const FORM_FIELDS_MAX = 1000;
/** All bodies in memory at once. */
export const BODIES_BYTES_MAX = 48 * 1024 * 1024;

export const HEADER_BYTES_MAX = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 20_000;
/** A connection on which nothing moves, in or out, is closed; uploads and downloads may take as long as they move. */
export const SILENCE_TIMEOUT_MS = 120_000;
/** Longer than a proxy keeps its own connections, so that the proxy closes them. */
export const KEEP_ALIVE_MS = 75_000;
/** After a refusal, how long the rest of the request is read and dropped. */
export const REFUSED_LINGER_MS = 2_000;
/** When the server stops, running requests have this time to end. */
export const DRAIN_MS = 20_000;

/** Requests that are admitted where the settings say nothing else, and the most that settings may admit; crds/tenants.carrel.dev.yaml has the same. */
export const RATE_LIMITS = {
  userPerMinute: { default: 100, max: 1_000_000 },
  tenantPerMinute: { default: 1_000, max: 10_000_000 },
  addressPerHour: { default: 10_000, max: 100_000_000 },
} as const;

/** What a request without a token asks for: to sign in, to refresh a session, a page of the LTI protocol, or anything else of the API. */
export type AnonymousKind = 'api' | 'login' | 'refresh' | 'page';

/**
 * Requests without a token are counted by kind, each kind against its share of the tenant's limit, so that none starves another.
 * Kinds that a whole class sends at once have the whole of it.
 */
export const ANONYMOUS_SHARES: Readonly<Record<AnonymousKind, { readonly key: string; readonly share: number }>> = {
  api: { key: 'anonymous', share: 1 / 5 },
  login: { key: 'login', share: 1 / 5 },
  refresh: { key: 'refresh', share: 1 },
  page: { key: 'pages', share: 1 },
};

/** The share of one network in each kind: two networks leave a third to everybody else. */
export const NETWORK_SHARE = 1 / 3;
