import { pageLanguage, type PageLanguage } from '../../api/page-language.ts';
import { Problem } from '../../api/problem.ts';
import { escapeHtml, type PageReply, type PageRequest, type PageRoute, type WebPages } from '../../api/page.ts';
import type { ShareDownloads } from './share-downloads.service.ts';
import { SHARE_TEXT, sizeOf, whenOf } from './share-text.ts';
import type { SharedFileView } from './shares.schema.ts';

const CSP = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * The page of a share link for people: facts about the file, the password form and the download. It works without scripts: the
 * form posts to this page, which redirects to the download. `apiPath`: path of the API, without a slash at the end.
 */
export function sharePages({
  downloads,
  web,
  apiPath,
}: {
  downloads: ShareDownloads;
  web: WebPages;
  apiPath: string;
}): PageRoute[] {
  const show = async (token: string, language: PageLanguage, fault?: Fault): Promise<PageReply> => {
    try {
      const file = await downloads.show(token);
      const body = filePage(file, language, fault);
      return { status: fault?.status ?? 200, body: web.notice({ title: file.name, body, language }), headers: headersOf(fault) };
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_found')) throw error;
      const { dead } = SHARE_TEXT[language];
      return { status: 404, body: web.notice({ title: dead, body: deadPage(language), language }), headers: headersOf() };
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
      return show(token, language, fault);
    }
  };

  return [
    {
      methods: ['get'],
      path: '/s/{token}',
      handle: (request) => show(request.path['token'] ?? '', pageLanguage(request.languages)),
    },
    { methods: ['post'], path: '/s/{token}', handle: begin },
  ];
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

const headersOf = (fault?: Fault): Record<string, string> => ({
  'content-security-policy': CSP,
  ...(fault?.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
});

const deadPage = (language: PageLanguage): string => `<main class="share">
<h1>${SHARE_TEXT[language].dead}</h1>
<p>${SHARE_TEXT[language].whyDead}</p>
</main>`;

function filePage(file: SharedFileView, language: PageLanguage, fault: Fault | undefined): string {
  const text = SHARE_TEXT[language];
  const facts = [sizeOf(file.size, language), ...(file.mime_type === null ? [] : [file.mime_type])]
    .map((fact) => escapeHtml(fact))
    .join(' · ');
  const { expires_at: end, downloads_left: left } = file;
  const notes = [
    ...(end === null ? [] : [text.ends(`<time datetime="${end}">${whenOf(end, language)} UTC</time>`)]),
    ...(left === null ? [] : [text.left(left)]),
  ];
  return `<main class="share">
<h1>${escapeHtml(file.name)}</h1>
<p class="facts">${facts}</p>
<form method="post">
${file.has_password ? passwordField(language, fault) : ''}<button type="submit">${text.download}</button>
</form>
${notes.length === 0 ? '' : `<p class="facts">${notes.join(' ')}</p>\n`}</main>`;
}

const passwordField = (
  language: PageLanguage,
  fault: Fault | undefined,
): string => `<label for="password">${SHARE_TEXT[language].password}</label>
<input id="password" name="password" type="password" autocomplete="off" required autofocus${
  fault ? ' aria-invalid="true" aria-describedby="fault"' : ''
}>
${fault ? `<p id="fault" class="note" role="alert">${escapeHtml(fault.message)}</p>\n` : ''}`;
