import { Problem } from '../../api/problem.ts';
import { escapeHtml, type PageReply, type PageRequest, type PageRoute, type WebPages } from '../../api/page.ts';
import type { ShareDownloads } from './share-downloads.service.ts';
import type { SharedFileView } from './shares.schema.ts';

const CSP = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * The page of a share link for people: what the file is, its password, the download. It works without scripts: the form comes here, and an answer that
 * lets the download begin leads to it. `apiPath`: of the API, without a slash at the end.
 */
export function sharePages({ downloads, web, apiPath }: { downloads: ShareDownloads; web: WebPages; apiPath: string }): PageRoute[] {
  const show = async (token: string, fault?: Fault): Promise<PageReply> => {
    try {
      const file = await downloads.show(token);
      const body = filePage(file, fault);
      return { status: fault?.status ?? 200, body: web.notice({ title: file.name, body }), headers: headersOf(fault) };
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_found')) throw error;
      return { status: 404, body: web.notice({ title: 'This link does not work', body: DEAD }), headers: headersOf() };
    }
  };

  const begin = async (request: PageRequest): Promise<PageReply> => {
    const token = request.path['token'] ?? '';
    const password = request.parameters.get('password')?.[0];
    try {
      // Waiting for a slowed link has an end of its own.
      const pass = await downloads.pass(token, password, { network: request.network, signal: new AbortController().signal });
      return { status: 303, headers: { location: `${apiPath}/s/${token}/download?download=${encodeURIComponent(pass)}` } };
    } catch (error) {
      const fault = error instanceof Problem ? faultOf(error) : undefined;
      if (!fault) throw error;
      return show(token, fault);
    }
  };

  return [
    { methods: ['get'], path: '/s/{token}', handle: (request) => show(request.path['token'] ?? '') },
    { methods: ['post'], path: '/s/{token}', handle: begin },
  ];
}

interface Fault {
  readonly status: number;
  readonly message: string;
  readonly retryAfter?: number | undefined;
}

/** What the page says of it, beside the password. Undefined: it is no fault of the form. */
function faultOf({ code, status, retryAfter }: Problem): Fault | undefined {
  if (code === 'not_found') return { status, message: '' };
  if (code === 'share_password_required') return { status, message: 'Enter the password.' };
  if (code === 'share_password_wrong') return { status, message: 'This password is wrong.' };
  if (code !== 'too_many_attempts') return undefined;
  const minutes = Math.ceil((retryAfter ?? 0) / 60);
  return { status, message: `Too many wrong passwords. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`, retryAfter };
}

const headersOf = (fault?: Fault): Record<string, string> => ({
  'content-security-policy': CSP,
  ...(fault?.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
});

const DEAD = `<main class="share">
<h1>This link does not work</h1>
<p>It may have ended, it may have been used up, or the address may be incomplete. Ask whoever sent it to you for a new one.</p>
</main>`;

function filePage(file: SharedFileView, fault: Fault | undefined): string {
  const facts = [sizeOf(file.size), ...(file.mime_type === null ? [] : [file.mime_type])].map((fact) => escapeHtml(fact)).join(' · ');
  const left = file.downloads_left;
  const notes = [
    ...(file.expires_at === null ? [] : [`The link ends on ${whenOf(file.expires_at)}.`]),
    ...(left === null ? [] : [left === 1 ? 'It can be used once more.' : `It can be used ${left} more times.`]),
  ];
  return `<main class="share">
<h1>${escapeHtml(file.name)}</h1>
<p class="facts">${facts}</p>
<form method="post">
${file.has_password ? passwordField(fault) : ''}<button type="submit">Download</button>
</form>
${notes.length === 0 ? '' : `<p class="facts">${notes.join(' ')}</p>\n`}</main>`;
}

const passwordField = (fault: Fault | undefined): string => `<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required autofocus${
  fault ? ' aria-invalid="true" aria-describedby="fault"' : ''
}>
${fault ? `<p id="fault" class="note" role="alert">${escapeHtml(fault.message)}</p>\n` : ''}`;

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** As people read it, by thousands: `1 byte`, `12 KB`, `3.4 MB`. */
export function sizeOf(bytes: number): string {
  if (bytes === 1) return '1 byte';
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

const WHEN = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const whenOf = (time: string): string => `<time datetime="${time}">${WHEN.format(new Date(time))} UTC</time>`;
