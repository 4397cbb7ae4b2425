import type { PageLanguage } from '../../api/page-language.ts';
import { escapeHtml, type PageReply, type WebPages } from '../../api/page.ts';
import { sourceOf } from './frame-ancestors.policy.ts';
import type { StorageSlot } from '../login/login-state.ts';

/** The texts that the two pages show briefly. */
export const STORAGE_TEXT = {
  en: { title: 'Opening', next: 'Continue', allow: 'Allow scripts or cookies for this service to open your course.' },
  de: {
    title: 'Wird geöffnet',
    next: 'Weiter',
    allow: 'Erlauben Sie Skripte oder Cookies für diesen Dienst, um Ihren Kurs zu öffnen.',
  },
} as const satisfies Record<PageLanguage, Record<string, string>>;

/**
 * The two pages that exchange messages with a platform's storage. Any site may frame them, as it may frame the redirects that
 * they replace: they show no user's data, have nothing to click, and post messages to the platform's origin only.
 */
const csp = (files: string, formAction: string): string =>
  `default-src 'none'; script-src ${files}; style-src ${files}; base-uri 'none'; form-action ${formAction}; ` +
  "frame-ancestors *; require-trusted-types-for 'script'";

/** `files`: as in PageRequest. */
interface Shown {
  readonly language: PageLanguage;
  readonly files: string;
}

/**
 * At login initiation: the page puts the sealed login into the platform's storage, then opens the authentication request, even if
 * that fails.
 */
export function putPage(
  web: WebPages,
  put: StorageSlot & { readonly value: string },
  next: URL,
  { language, files }: Shown,
): PageReply {
  const body = exchange(
    { step: 'put', origin: next.origin, next: next.href, ...put },
    `<noscript><p><a href="${escapeHtml(next.href)}">${STORAGE_TEXT[language].next}</a></p></noscript>`,
    language,
  );
  return {
    status: 200,
    body: web.document('storage', { title: STORAGE_TEXT[language].title, body, language }),
    headers: { 'content-security-policy': csp(files, "'none'") },
  };
}

/** The slot of the platform's storage that a launch without its cookie reads. */
export interface StorageRequest extends StorageSlot {
  /** Origin of the registration's authentication endpoint; the frame must have it. */
  readonly origin: string;
  /** Addresses that the launch may redirect to. */
  readonly toolUrls: readonly string[];
  readonly state: string;
  readonly idToken: string;
}

/** At the launch: the page reads the slot and posts its value, or an empty one, to `action`. */
export function getPage(
  web: WebPages,
  { toolUrls, state, idToken, ...asked }: StorageRequest,
  action: string,
  { language, files }: Shown,
): PageReply {
  const hidden = (name: string, value: string): string => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
  const body = exchange(
    { step: 'get', ...asked },
    `<form method="post" action="${escapeHtml(action)}">` +
      `${hidden('state', state)}${hidden('id_token', idToken)}${hidden('stored', '')}
<noscript><p>${STORAGE_TEXT[language].allow}</p></noscript></form>`,
    language,
  );
  // Chromium also applies `form-action` to a form's redirects, which end at the tool's address.
  const targets = new Set(["'self'", ...toolUrls.map(sourceOf).filter((source) => source !== undefined)]);
  return {
    status: 200,
    body: web.document('storage', { title: STORAGE_TEXT[language].title, body, language }),
    // A form of a `no-referrer` page is posted with `Origin: null`.
    headers: { 'content-security-policy': csp(files, [...targets].join(' ')), 'referrer-policy': 'same-origin' },
  };
}

function exchange(data: Readonly<Record<string, string>>, content: string, language: PageLanguage): string {
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`);
  return `<main id="exchange"${attributes.join('')}><p role="status">${STORAGE_TEXT[language].title} …</p>${content}</main>`;
}
