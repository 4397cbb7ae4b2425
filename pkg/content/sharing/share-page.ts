import { pageLanguage, type PageLanguage } from '../../api/page-language.ts';
import { Problem } from '../../api/problem.ts';
import { escapeHtml, type PageReply, type PageRequest, type PageRoute, type WebPages } from '../../api/page.ts';
import type { SharedView } from './folder-links.schema.ts';
import type { FolderLinks, LinkLook } from './folder-links.service.ts';
import type { ShareDownloads } from './share-downloads.service.ts';
import { SHARE_TEXT, sizeOf, whenOf } from './share-text.ts';

/**
 * The page runs only files of the build, and loads nothing from elsewhere. Its form leads to the download, which this origin
 * serves too.
 */
const policy = (files: string): string =>
  [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    `font-src ${files}`,
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

type FileView = Extract<SharedView, { kind: 'file' }>;
type FolderView = Extract<SharedView, { kind: 'folder' }>;

/**
 * The page of a share link for people. Its script (pkg/web/share) replaces the content that the server sends. That content works
 * without scripts as far as it can: the form of a file posts to this page, which redirects to the download. `apiPath`: path of
 * the API, without a slash at the end.
 *
 * A class opens a link in one minute: the page has all that its script shows first, so a visit is one request.
 */
export function sharePages({
  downloads,
  folders,
  web,
  apiPath,
}: {
  downloads: ShareDownloads;
  folders: FolderLinks;
  web: WebPages;
  apiPath: string;
}): PageRoute[] {
  const show = async ({ path, languages, files, requestId }: PageRequest, fault?: Fault): Promise<PageReply> => {
    const token = path['token'] ?? '';
    const language = pageLanguage(languages);
    const headers = headersOf(files, fault);
    try {
      const look = await folders.look(token);
      const { view } = look;
      const main =
        view.kind === 'file' ? filePage(view, language, fault) : folderPage(view, language, `${apiPath}/s/${token}/zip`);
      const content = { title: titleOf(view, language), body: `<div id="app">${main}</div>${givenTo(look)}`, language };
      return { status: fault?.status ?? 200, body: web.document('share', content), headers };
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_found')) throw error;
      const { dead: title } = SHARE_TEXT[language];
      const body = web.document('share', { title, body: deadPage(language, requestId), language });
      return { status: 404, body, headers };
    }
  };

  const begin = async (request: PageRequest): Promise<PageReply> => {
    const token = request.path['token'] ?? '';
    const password = request.parameters.get('password')?.[0];
    const language = pageLanguage(request.languages);
    try {
      // A delayed link needs no abort: the delay is bounded.
      const pass = await downloads.pass(token, password, { network: request.network, signal: new AbortController().signal });
      return { status: 303, headers: { location: `${apiPath}/s/${token}/download?download=${encodeURIComponent(pass)}` } };
    } catch (error) {
      const fault = error instanceof Problem ? faultOf(error, language) : undefined;
      if (!fault) throw error;
      return show(request, fault);
    }
  };

  return [
    { methods: ['get'], path: '/s/{token}', counts: 'link', handle: (request) => show(request) },
    { methods: ['post'], path: '/s/{token}', counts: 'link', handle: begin },
  ];
}

/**
 * Returns what the script shows first, as data that no browser runs (pkg/web/share/link.ts, Given). A link with a password or
 * for uploads depends on the session of the reader, which the page does not get: the script asks for those.
 */
function givenTo({ view, children }: LinkLook): string {
  const shared = view.has_password || view.mode !== 'download' ? null : view;
  if (shared === null && children === null) return '';
  const json = JSON.stringify({ shared, children }).replaceAll('<', String.raw`\u003c`);
  return `\n<script type="application/json" id="given">${json}</script>`;
}

interface Fault {
  readonly status: number;
  readonly message: string;
  readonly retryAfter?: number | undefined;
}

/** Returns the message to show beside the password field; undefined if the form is not at fault. */
function faultOf({ code, status, retryAfter }: Problem, language: PageLanguage): Fault | undefined {
  const text = SHARE_TEXT[language];
  if (code === 'not_found') return { status, message: '' };
  if (code === 'share_password_required') return { status, message: text.enterPassword };
  if (code === 'share_password_wrong') return { status, message: text.wrongPassword };
  if (code !== 'too_many_attempts') return undefined;
  return { status, message: text.tooManyAttempts(Math.ceil((retryAfter ?? 0) / 60)), retryAfter };
}

const headersOf = (files: string, fault: Fault | undefined): Record<string, string> => ({
  'content-security-policy': policy(files),
  'cross-origin-opener-policy': 'same-origin',
  // A link is for those to whom it was given.
  'x-robots-tag': 'noindex, nofollow',
  vary: 'accept-language',
  ...(fault?.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
});

/** A link with a password names nothing before it. */
const titleOf = ({ name }: SharedView, language: PageLanguage): string => name ?? SHARE_TEXT[language].locked;

const headingOf = (view: SharedView, language: PageLanguage): string =>
  `<h1><bdi>${escapeHtml(titleOf(view, language))}</bdi></h1>`;

/**
 * Without the element that the script fills: nothing is asked about a link that does not work. By the id of the request an
 * administrator finds it in the log.
 */
const deadPage = (language: PageLanguage, requestId: string): string => `<main class="share-card">
<h1>${SHARE_TEXT[language].dead}</h1>
<p>${SHARE_TEXT[language].whyDead}</p>
<p class="c-request"><span>${SHARE_TEXT[language].request} <code>${escapeHtml(requestId)}</code></span></p>
</main>`;

function filePage(file: FileView, language: PageLanguage, fault: Fault | undefined): string {
  const text = SHARE_TEXT[language];
  const facts = [
    ...(file.size === null ? [] : [sizeOf(file.size, language)]),
    ...(file.mime_type === null ? [] : [file.mime_type]),
  ]
    .map((fact) => escapeHtml(fact))
    .join(' · ');
  return `<main class="share-card">
${headingOf(file, language)}
${facts === '' ? '' : `<p class="share-facts">${facts}</p>\n`}<form method="post" class="share-form">
${file.has_password ? passwordField(language, fault) : ''}<button class="c-button c-button-primary">${text.download}</button>
</form>
${termsOf(file, language)}</main>`;
}

/** Lists, uploads and the password of a folder need the script; the archive of all that is in it does not. */
function folderPage(folder: FolderView, language: PageLanguage, zip: string): string {
  const text = SHARE_TEXT[language];
  const archive =
    folder.has_password || folder.mode === 'upload'
      ? ''
      : `<p><a class="c-button c-button-primary" href="${escapeHtml(zip)}" download>${text.downloadAll}</a></p>\n`;
  return `<main class="share-card">
${headingOf(folder, language)}
<noscript><p>${archive === '' ? text.needsScript : text.listNeedsScript}</p></noscript>
${archive}${termsOf(folder, language)}</main>`;
}

function termsOf({ expires_at: end, downloads_left: left }: SharedView, language: PageLanguage): string {
  const text = SHARE_TEXT[language];
  const notes = [
    ...(end === null ? [] : [text.ends(`<time datetime="${end}">${whenOf(end, language)} UTC</time>`)]),
    ...(left === null ? [] : [text.left(left)]),
  ];
  return notes.length === 0 ? '' : `<p class="share-facts">${notes.join(' ')}</p>\n`;
}

const passwordField = (
  language: PageLanguage,
  fault: Fault | undefined,
): string => `<div class="c-field"><label class="c-field-label" for="password">${SHARE_TEXT[language].password}</label>
<input class="c-input" id="password" name="password" type="password" autocomplete="off" required autofocus${
  fault ? ' aria-invalid="true" aria-describedby="fault"' : ''
}>
${fault ? `<p id="fault" class="c-field-error" role="alert">${escapeHtml(fault.message)}</p>\n` : ''}</div>
`;
