import { REFUSED_LINGER_MS } from './size-and-time-limits.ts';
import { acceptedLanguages, type PageLanguage, pageLanguage } from '../api/page-language.ts';
import { Problem } from '../api/problem.ts';
import { escapeHtml, PageProblem, type PageReply, type PageRequest, type PageRoute, type WebPages } from '../api/page.ts';
import { origins } from '../store/postgres/origin.ts';
import type { RequestAdmission } from './admission.ts';
import { cspSourceOfBuild } from './csp-source.ts';
import { replyLingering } from './lingering-close.ts';
import { PAGE_ERRORS_DE } from './page-errors.de.ts';
import { errorBody, problemOf } from './middleware/errors.ts';
import { readForm } from './request/form.ts';
import { readPostedJson } from './request/posted-json.ts';
import type { Context, Handler } from './request-state.ts';

/** A page of text loads only our styles and fonts. Any site may frame it: it shows only what the request sent. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
};

export interface PageDeps {
  readonly admission: RequestAdmission;
  /** Hosts (with port) under which pages answer: those of the app address and of the LTI address. */
  readonly hosts: ReadonlySet<string>;
  readonly web: WebPages;
}

/** Serves a page as Koa middleware: host, limits, parameters, handler; every failure is a readable page. */
export function servePage(route: PageRoute, deps: PageDeps): Handler {
  return async (ctx) => {
    ctx.state.route = route.path;
    ctx.set(PAGE_HEADERS);
    const languages = acceptedLanguages(ctx.get('accept-language'));
    try {
      if (!deps.hosts.has(ctx.get('host').toLowerCase()))
        throw new PageProblem('host_unknown', 421, 'This service does not answer under this host name.', {
          messages: { de: 'Dieser Dienst antwortet nicht unter diesem Hostnamen.' },
        });
      await deps.admission.admit(ctx, route.counts ?? 'page');
      const request = await pageRequest(ctx, route, languages);
      const { ip, requestId } = request;
      send(ctx, await origins.run({ userId: null, ip, requestId }, () => route.handle(request)));
    } catch (error) {
      refuse(ctx, error, { web: deps.web, route, language: pageLanguage(languages) });
    }
  };
}

async function pageRequest(ctx: Context, { takes }: PageRoute, languages: readonly string[]): Promise<PageRequest> {
  const isForm = ctx.method === 'POST' && takes === undefined;
  return {
    requestId: ctx.state.requestId,
    method: ctx.method,
    parameters: isForm ? await readForm(ctx.req, ctx.state.address) : grouped(new URLSearchParams(ctx.querystring)),
    ...(takes === 'json' ? { json: await readPostedJson(ctx.req, ctx.state.address) } : {}),
    path: ctx.params as Record<string, string>,
    cookies: cookiesOf(ctx.get('cookie')),
    origin: ctx.req.headers.origin,
    ip: ctx.state.address,
    network: ctx.state.network,
    userAgent: ctx.req.headers['user-agent'],
    files: cspSourceOfBuild(ctx.get('host').toLowerCase()),
    languages,
  };
}

function grouped(parameters: URLSearchParams): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const present = values.get(name);
    if (present) present.push(value);
    else values.set(name, [value]);
  }
  return values;
}

function cookiesOf(header: string): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    if (name !== '' && !cookies.has(name)) cookies.set(name, pair.slice(at + 1).trim());
  }
  return cookies;
}

function send(ctx: Context, { status, body, headers = {} }: PageReply): void {
  ctx.status = status;
  ctx.body = body ?? '';
  ctx.type = 'text/html; charset=utf-8';
  for (const [name, value] of Object.entries(headers)) ctx.set(name, typeof value === 'string' ? value : [...value]);
}

/** Replies to the person, or in JSON to a program that accepts it; internal errors are logged with their stack. */
function refuse(ctx: Context, error: unknown, to: { web: WebPages; route: PageRoute; language: PageLanguage }): void {
  const { web, route, language } = to;
  const problem = error instanceof PageProblem ? error : problemOf(error);
  if (problem.code === 'internal') ctx.state.log().error({ err: error }, 'a page failed');
  else if (problem.status >= 500) ctx.state.log().warn({ err: error }, 'a page failed: a service that it needs is unavailable');
  ctx.status = problem.status;
  if (problem instanceof Problem) {
    ctx.set({ ...problem.headers });
    if (problem.retryAfter !== undefined) ctx.set('Retry-After', String(problem.retryAfter));
  }
  if (route.takes === 'json' || ctx.accepts('html', 'json') === 'json') {
    ctx.type = 'application/json; charset=utf-8';
    replyLingering(ctx, Buffer.from(JSON.stringify(errorBody(problem, ctx.state.requestId))), REFUSED_LINGER_MS);
    return;
  }
  ctx.type = 'text/html; charset=utf-8';
  replyLingering(ctx, Buffer.from(refusalPage(web, problem, { requestId: ctx.state.requestId, language })), REFUSED_LINGER_MS);
}

/** The texts of a refusal's page besides the refusal's own sentence. */
const WORDS = {
  en: {
    title: 'Something went wrong',
    fields: 'Which field of the LMS takes which address',
    again: 'Start again from your LMS',
    back: 'Back to the course',
    request: 'Request',
  },
  de: {
    title: 'Das hat nicht funktioniert',
    fields: 'Welches Feld des LMS welche Adresse erhält',
    again: 'Aus Ihrem LMS neu beginnen',
    back: 'Zurück zum Kurs',
    request: 'Anfrage',
  },
} as const satisfies Record<PageLanguage, Record<string, string>>;

function refusalPage(web: WebPages, problem: Problem | PageProblem, of: { requestId: string; language: PageLanguage }): string {
  const { code } = problem;
  const words = WORDS[of.language];
  const { wayBack, lms, addresses, messages } =
    problem instanceof PageProblem ? problem : { wayBack: undefined, lms: undefined, addresses: [], messages: {} };
  const inCatalogue = of.language === 'de' && problem instanceof Problem ? PAGE_ERRORS_DE[problem.code] : undefined;
  const translated: string | undefined = (messages as PageProblem['messages'])[of.language] ?? inCatalogue;
  const isForeign = translated === undefined && of.language !== 'en';
  const rows = addresses.map(
    ({ field, address }) => `<dt>${escapeHtml(field)}</dt>\n<dd><code>${escapeHtml(address)}</code></dd>\n`,
  );
  const fields = rows.length === 0 ? '' : `<h2>${words.fields}</h2>\n<dl>\n${rows.join('')}</dl>\n`;
  const linkTo = (address: string, text: string): string => `<p><a href="${escapeHtml(address)}" target="_top">${text}</a></p>\n`;
  const toLms = lms === undefined ? '' : linkTo(lms, words.again);
  const link = wayBack === undefined ? toLms : linkTo(wayBack, words.back);
  const reference = `Code: <code>${escapeHtml(code)}</code><br>${words.request}: ${escapeHtml(of.requestId)}`;
  const footer = `<footer class="code">${reference}</footer>`;
  const body = `<main class="card"><div class="card-body">
<h1>${words.title}</h1>
<p role="alert"${isForeign ? ' lang="en"' : ''}>${escapeHtml(translated ?? problem.message)}</p>
${fields}${link}${footer}
</div></main>`;
  return web.notice({ title: words.title, body, language: of.language });
}
