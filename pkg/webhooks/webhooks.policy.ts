import { invalid, Problem } from '../api/problem.ts';
import { type AllowedRange, literalPrivateAddress } from '../net/private-address.ts';
import type { Webhook } from '../store/postgres/tables.ts';
import { MANAGED_BY } from '../store/postgres/tenant-schema.ts';
import { SECRET_PREFIX } from './webhook-secrets.ts';

/** Lengths in characters. Headers as in the Webhook resource (crds/webhooks.yaml). */
export const URL_MAX = 2_048;
export const HEADERS_MAX = 20;
export const HEADER_NAME_MAX = 100;
export const HEADER_VALUE_MAX = 1_024;
export const SECRET_MAX = 1_024;
/**
 * Webhooks of a tenant, those of Kubernetes resources included: each event is written once for each webhook that subscribes to
 * it.
 */
export const WEBHOOKS_MAX = 50;

/** Longest time that the previous secret signs beside a new one. */
export const SECRET_OVERLAP_HOURS = 24;

/** Headers that a delivery sets, or that frame the message and name its receiver. */
const OWN_HEADER =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|http2-settings|x-carrel-signature|webhook-.*|proxy-.*)$/;

/**
 * Requires an address that deliveries may go to: https, or plain http to an address that the platform's operator opened
 * (`CARREL_EGRESS_ALLOW`). Throws `address_refused` for a literal private address, otherwise `validation_failed`. The address
 * that a name resolves to is checked when it is dialled.
 */
export function requireAddress(text: string, allowed: readonly AllowedRange[]): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\/[^/?#\s\\]+([/?][^#\s\\]*)?$/.test(text))
    throw invalid('url', 'must be an address such as https://receiver.example.org/hook, without fragment, spaces or backslashes');
  if (url.username !== '' || url.password !== '')
    throw invalid('url', 'must not contain a user name or password; put them into headers');
  const privateAddress = literalPrivateAddress(text, allowed);
  if (privateAddress !== undefined)
    throw new Problem(
      'address_refused',
      `url: ${privateAddress} lies inside the platform's own network, where webhooks do not go.`,
      {
        details: [{ field: 'url', message: `leads to a private address (${privateAddress})` }],
      },
    );
  const isOpened = literalPrivateAddress(text, []) !== undefined;
  if (url.protocol === 'http:' && !isOpened) throw invalid('url', 'must begin with https://');
}

/**
 * Headers authorise with the origin that they were given for, and their values are never shown again. So they do not move to
 * another origin unnoticed. Throws `validation_failed`.
 */
export function requireHeadersOfOrigin(
  webhook: Pick<Webhook, 'url' | 'headers'>,
  url: string | undefined,
  headers: object | undefined,
): void {
  if (webhook.headers === null || url === undefined || headers !== undefined) return;
  if (new URL(url).origin !== new URL(webhook.url).origin)
    throw invalid('headers', 'must be re-sent when url moves to another origin ({} to clear)');
}

/** Returns true for names of HTTP headers that a webhook may not add. */
export const isOwnHeader = (name: string): boolean => OWN_HEADER.test(name.toLowerCase());

/** Returns true if a secret with the prefix of Standard Webhooks is valid. */
export const isWellFormedSecret = (secret: string): boolean => {
  if (!secret.startsWith(SECRET_PREFIX)) return true;
  const encoded = secret.slice(SECRET_PREFIX.length);
  return encoded !== '' && Buffer.from(encoded, 'base64').toString('base64') === encoded;
};

/** A webhook that a resource manages must be changed there (docs/design/resources-and-reconciliation.md). Throws `managed`. */
export function requireOwn({ managedBy, managedRef }: Pick<Webhook, 'managedBy' | 'managedRef'>): void {
  if (managedBy === null) return;
  const what = managedBy === MANAGED_BY ? `The Kubernetes resource Webhook ${managedRef ?? ''}` : managedBy;
  throw new Problem('managed', `${what} manages this webhook; change it there.`);
}

/** For people, by REST and in the condition of a resource. */
export const TOO_MANY_WEBHOOKS = `The tenant has ${WEBHOOKS_MAX} webhooks, the maximum; delete one first.`;

/** The tenant has WEBHOOKS_MAX webhooks, those made by REST included. */
export class TooManyWebhooks extends Error {
  override readonly name = 'TooManyWebhooks';

  constructor() {
    super(TOO_MANY_WEBHOOKS);
  }
}

/**
 * Returns the fields of the receiver's record that a change clears, whether a request or a managing resource makes it. A new
 * address, or enabling it again, starts with a clean record. Disabling by a person is not a failure.
 */
export function freshStart(
  webhook: Pick<Webhook, 'url' | 'active' | 'disabledReason'>,
  { url, active }: { readonly url?: string | undefined; readonly active?: boolean | undefined },
): { failingSince?: null; disabledReason?: null } {
  const isOther = url !== undefined && url !== webhook.url;
  const isSwitched = active !== undefined && (active !== webhook.active || webhook.disabledReason !== null);
  return isOther || isSwitched ? { failingSince: null, ...(isSwitched ? { disabledReason: null } : {}) } : {};
}
