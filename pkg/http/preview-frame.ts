import { pageLanguage } from '../api/page-language.ts';
import type { PageRoute, WebPages } from '../api/page.ts';

export const PREVIEW_FRAME = '/preview-frame';

/**
 * The document in which the pages show what a script has to draw: PDFs and Markdown that anybody may have uploaded. It has an
 * opaque origin, so neither session nor storage of the tenant's pages is within its reach, and no network: it loads scripts,
 * styles and fonts of the build, and gets the file by a message.
 *
 * The policy names the address of the build's files, not 'self': browsers differ in what that is without an origin.
 * `wasm-unsafe-eval`: pdf.js decodes scans in WebAssembly, in a worker that it starts from a `blob:` of its own.
 * No directive of a frame's own policy keeps it from going to another address; `frame-src` of the page around it does.
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

/**
 * What a content security policy does not cover: connections that are made in advance (preconnect, names that are looked up),
 * WebRTC and navigation. The list is for the frame and its worker; browsers that do not know it ignore it
 * (https://wicg.github.io/connection-allowlists/). Without a parameter `webrtc` it blocks WebRTC.
 */
const connectionsAt = (origin: string): Readonly<Record<string, string>> => ({
  'connection-allowlist': `("${origin}/assets/*")`,
  // Browsers look up the names of links, so that the owner of a name would learn who reads the file.
  'x-dns-prefetch-control': 'off',
});

/** `origin`: of the tenant's pages, which alone may frame it. Throws PageProblem `web_not_built`. */
export const previewFrame = (web: WebPages, origin: string): PageRoute => ({
  methods: ['get'],
  path: PREVIEW_FRAME,
  handle: async ({ languages }) => ({
    status: 200,
    body: web.previewFrame(pageLanguage(languages)),
    headers: { 'content-security-policy': policyAt(origin), ...connectionsAt(origin), vary: 'accept-language' },
  }),
});
