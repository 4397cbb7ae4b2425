/**
 * How many requests are admitted, of whom: docs/design/api-conventions.md, Rate limits. Settings that change them:
 * cmd/server/config.ts.
 */

/**
 * Requests that are admitted where the settings say nothing else, and the most that settings may admit;
 * crds/tenants.carrel.dev.yaml has the same.
 */
export const RATE_LIMITS = {
  userPerMinute: { default: 100, max: 1_000_000 },
  tenantPerMinute: { default: 1_000, max: 10_000_000 },
  addressPerHour: { default: 10_000, max: 100_000_000 },
} as const;

/**
 * What a request without a token asks for: to sign in, to refresh a session, a page of the LTI protocol, or anything else of the
 * API.
 */
export type AnonymousKind = 'api' | 'login' | 'refresh' | 'page';

/** Login initiation, launch, the launch by the LMS's storage, and the page of the course. */
const PAGES_OF_A_LAUNCH = 4;

/**
 * Requests without a token are counted by kind, each kind against its share of the tenant's limit, so that none starves another.
 * Kinds that a whole class sends at once have the whole of it; as many people launch in a minute as the tenant has requests.
 */
export const ANONYMOUS_SHARES: Readonly<Record<AnonymousKind, { readonly key: string; readonly share: number }>> = {
  api: { key: 'anonymous', share: 1 / 5 },
  login: { key: 'login', share: 1 / 5 },
  refresh: { key: 'refresh', share: 1 },
  page: { key: 'pages', share: PAGES_OF_A_LAUNCH },
};

/** The share of one network in each kind: two networks leave a third to everybody else. */
export const NETWORK_SHARE = 1 / 3;
