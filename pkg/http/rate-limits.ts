/**
 * The number of admitted requests by sender: docs/design/api-conventions.md, Rate limits. Settings that change them:
 * cmd/server/config.ts.
 */

/** The requests that are admitted by default, and the most that settings may admit; crds/tenants.carrel.dev.yaml has the same. */
export const RATE_LIMITS = {
  userPerMinute: { default: 100, max: 1_000_000 },
  tenantPerMinute: { default: 1_000, max: 10_000_000 },
  addressPerHour: { default: 10_000, max: 100_000_000 },
} as const;

/**
 * The purpose of a request without a token: to sign in, to refresh a session, a page of the LTI protocol, a share link (its page,
 * lists, downloads and uploads), or anything else in the API.
 */
export type AnonymousKind = 'api' | 'login' | 'refresh' | 'page' | 'link';

/** Login initiation, launch, the launch by the LMS's storage, and the page of the course. */
const PAGES_OF_A_LAUNCH = 4;

/**
 * Somebody who opens a folder and downloads three files sends 7 requests: the page, and two for each file. One network's share of
 * 2,000 is 667, so 95 people behind one address do so in a minute.
 */
const LINKS = 2;

/**
 * Requests without a token are counted by kind, each kind against its share of the tenant's limit, so that none starves another.
 * Kinds that a whole class sends at once get the whole limit. As many people can launch in a minute as the tenant has requests.
 */
export const ANONYMOUS_SHARES: Readonly<Record<AnonymousKind, { readonly key: string; readonly share: number }>> = {
  api: { key: 'anonymous', share: 1 / 5 },
  login: { key: 'login', share: 1 / 5 },
  refresh: { key: 'refresh', share: 1 },
  page: { key: 'pages', share: PAGES_OF_A_LAUNCH },
  link: { key: 'links', share: LINKS },
};

/** The share of one network in each kind: two networks leave a third to everyone else. */
export const NETWORK_SHARE = 1 / 3;
