import { escapeHtml, type PageReply, type WebPages } from '../../api/page.ts';
import { sourceOf } from './frame-ancestors.policy.ts';
import type { StoragePlace } from '../login/login-state.ts';

/**
 * The two pages that talk to a platform's storage. Any site may frame them, as it may the redirects that they stand for:
 * they show nothing of anybody's, have nothing to click, and speak to the platform's origin alone.
 */
const csp = (formAction: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action ${formAction}; frame-ancestors *; require-trusted-types-for 'script'`;

/** At login initiation: the page puts the sealed login into the platform's frame and goes on to the authentication request, in any case. */
export function putPage(web: WebPages, put: StoragePlace & { readonly value: string }, next: URL): PageReply {
  const body = exchange(
    { step: 'put', origin: next.origin, next: next.href, ...put },
    `<noscript><p><a href="${escapeHtml(next.href)}">Go on</a></p></noscript>`,
  );
  return { status: 200, body: web.document('storage', { title: 'Opening', body }), headers: { 'content-security-policy': csp("'none'") } };
}

/** What a launch without its cookie asks the platform's frame for. */
export interface Question extends StoragePlace {
  /** Of the registration's authentication end point; the frame must be of it. */
  readonly origin: string;
  /** Addresses that the launch may lead to. */
  readonly toolUrls: readonly string[];
  readonly state: string;
  readonly idToken: string;
}

/** At the launch: the page asks the platform's frame and posts what it gave, or nothing, to `action`. */
export function getPage(web: WebPages, { toolUrls, state, idToken, ...asked }: Question, action: string): PageReply {
  const hidden = (name: string, value: string): string => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
  const body = exchange(
    { step: 'get', ...asked },
    `<form method="post" action="${escapeHtml(action)}">${hidden('state', state)}${hidden('id_token', idToken)}${hidden('stored', '')}
<noscript><p>Opening your course here takes scripts, or cookies for this service.</p></noscript></form>`,
  );
  // Chromium holds a form to `form-action` through its redirects, which end at the tool's address.
  const targets = new Set(["'self'", ...toolUrls.map(sourceOf).filter((source) => source !== undefined)]);
  return {
    status: 200,
    body: web.document('storage', { title: 'Opening', body }),
    // A form of a `no-referrer` page is posted with `Origin: null`.
    headers: { 'content-security-policy': csp([...targets].join(' ')), 'referrer-policy': 'same-origin' },
  };
}

function exchange(data: Readonly<Record<string, string>>, content: string): string {
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`);
  return `<main id="exchange"${attributes.join('')}><p role="status">Opening …</p>${content}</main>`;
}
