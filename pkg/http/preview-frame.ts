import { pageLanguage } from '../api/page-language.ts';
import type { PageRoute, WebPages } from '../api/page.ts';

/**
 * The document in which the pages show what a script has to draw: PDFs and Markdown that anybody may have uploaded. It has an
 * opaque origin, so neither session nor storage of the tenant's pages is within its reach, and no network: it loads scripts,
 * styles and fonts of the build, and gets the file by a message.
 *
 * The policy names the address of the build's files, not 'self': browsers differ in what that is without an origin.
 * `wasm-unsafe-eval`: pdf.js decodes scans in WebAssembly, in a worker that it starts from a `blob:` of its own.
 * No rule of a policy but the page's `frame-src` keeps a frame from leaving for another site, which the page's policy does.
 */
const policyAt = (origin: string): string => {
  const files = `${origin}/assets/`;
  return [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src ${files} 'wasm-unsafe-eval'`,
    `style-src ${files}`,
    `font-src ${files}`,
    'img-src blob: data:',
    'worker-src blob:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${origin}`,
  ].join('; ');
};

/** `origin`: of the tenant's pages, which alone may frame it. Throws PageProblem `web_not_built`. */
export const previewFrame = (web: WebPages, origin: string): PageRoute => ({
  methods: ['get'],
  path: '/preview-frame',
  handle: async ({ languages }) => ({
    status: 200,
    body: web.previewFrame(pageLanguage(languages)),
    headers: { 'content-security-policy': policyAt(origin), vary: 'accept-language' },
  }),
});
