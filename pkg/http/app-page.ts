import type { PageRoute, WebPages } from '../api/page.ts';
import { pageLanguage } from '../api/page-language.ts';

/**
 * The first segments of the addresses of the tenant's pages (pkg/web/app). What stands behind them is the script's business: one
 * document answers all of them.
 */
export const SECTIONS: ReadonlySet<string> = new Set([
  '',
  'account',
  'admin',
  'courses',
  'design',
  'files',
  'jobs',
  'links',
  'recent',
  'reset',
  'search',
  'shared',
  'sign-in',
  'trash',
  'welcome',
]);

export const isAppPath = (path: string): boolean => SECTIONS.has(path.split('/')[1] ?? '');

/**
 * The document loads only what this origin serves. `blob:` is what the page itself made: thumbnails, and files in a preview.
 * No other site may frame it.
 */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "frame-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept-language',
};

/** The document of all pages of the app, in the language of the browser. Throws PageProblem `web_not_built`. */
export const appPage = (web: WebPages): PageRoute => ({
  methods: ['get'],
  path: '/{page}',
  handle: async ({ languages }) => ({ status: 200, body: web.app(pageLanguage(languages)), headers: HEADERS }),
});
