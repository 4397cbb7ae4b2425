import type { PageRoute, WebPages } from '../api/page.ts';
import { pageLanguage } from '../api/page-language.ts';
import { PREVIEW_FRAME } from './preview-frame.ts';

/**
 * The first segments of the addresses of the tenant's pages. What stands behind them is the script's business: one document
 * answers all of them. hack/web-sections.test.ts compares them with pkg/web/app/routes.tsx.
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
 * The document runs only files of the build, and loads nothing from elsewhere. `blob:` is what the page itself made: thumbnails,
 * and files in a preview. The only frame is that of the preview, which can go to no other address: neither to another site, nor
 * to a share link of this one, where its owner would see that it was used. No other site may frame the page.
 */
const policy = (files: string, origin: string): string =>
  [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    `font-src ${files}`,
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    `frame-src ${origin}${PREVIEW_FRAME}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * The document of all pages of the app, in the language of the browser. `origin`: of these pages. `status`: 404 for an address
 * that no page has, of which the script says so. Throws PageProblem `web_not_built`.
 */
export const appPage = (web: WebPages, origin: string, status: 200 | 404 = 200): PageRoute => ({
  methods: ['get'],
  path: '/{page}',
  handle: async ({ languages, files }) => ({
    status,
    body: web.app(pageLanguage(languages)),
    headers: {
      'content-security-policy': policy(files, origin),
      'cross-origin-opener-policy': 'same-origin',
      vary: 'accept-language',
    },
  }),
});
