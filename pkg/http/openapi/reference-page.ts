import { type Endpoint, problemsOf } from '../../api/endpoint.ts';
import { CATALOGUE } from '../../api/error-catalogue.ts';

/**
 * Renders the reference page: all endpoints on one static page, without scripts. `document` is the OpenAPI document with the
 * bodies.
 */
export function referencePage(endpoints: readonly Endpoint[], document: Record<string, unknown>): string {
  const groups = Map.groupBy(endpoints, ({ tag }) => tag ?? 'other');
  const sections = [...groups].map(
    ([tag, members]) =>
      `<section><h2 id="${escape(tag)}">${escape(tag)}</h2>` +
      `${members.map((endpoint) => card(endpoint, document)).join('')}</section>`,
  );
  const menu = [...groups.keys()].map((tag) => `<a href="#${escape(tag)}">${escape(tag)}</a>`).join(' ');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Carrel API</title><style>${STYLE}</style></head>
<body><header><h1>Carrel API</h1><nav>${menu} <a href="openapi.json">openapi.json</a></nav></header>
<main>${sections.join('')}</main></body></html>`;
}

/** For this page only, which has one inline style. */
export const REFERENCE_PAGE_CSP = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
body{color:#1a1a1a;background:#fff}
h1,h2{line-height:1.2}nav a{margin-right:.75rem}details{border:1px solid #ccc;border-radius:4px}
details{margin:.5rem 0;padding:.5rem .75rem}
summary{cursor:pointer}code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;background:#f4f4f4;padding:.75rem}
b{display:inline-block;min-width:4.5rem;text-transform:uppercase}
td,th{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0}
@media(prefers-color-scheme:dark){
body{color:#eee;background:#161616}pre{background:#222}details{border-color:#444}a{color:#8cf}}`;

function card(endpoint: Endpoint, document: Record<string, unknown>): string {
  const operation =
    (document.paths as Record<string, Record<string, Record<string, unknown>>>)[endpoint.path]?.[endpoint.method] ?? {};
  const parameters = ((operation.parameters ?? []) as Record<string, unknown>[]).filter((parameter) => 'name' in parameter);
  const rows = parameters.map(
    ({ name, in: location, description }) =>
      `<tr><td><code>${escape(name)}</code></td><td>${escape(location)}</td><td>${escape(description ?? '')}</td></tr>`,
  );
  const responses = operation.responses as Record<string, { content?: unknown }>;
  const replies = Object.fromEntries(Object.keys(endpoint.replies).map((status) => [status, responses[status]?.content ?? null]));
  const caller =
    typeof endpoint.caller === 'object'
      ? `permission <code>${escape(endpoint.caller.permission)}</code>`
      : escape(endpoint.caller);
  return `<details><summary><b>${endpoint.method}</b> <code>${escape(endpoint.path)}</code> ${escape(endpoint.summary)}</summary>
<p>Caller: ${caller}</p>
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${operation.requestBody ? `<p>Body</p>${json(operation.requestBody)}` : ''}
<p>Replies</p>${json(replies)}
<table>${problemsOf(endpoint)
    .map(
      (code) =>
        `<tr><td>${CATALOGUE[code].status}</td><td><code>${code}</code></td><td>${escape(CATALOGUE[code].meaning)}</td></tr>`,
    )
    .join('')}</table></details>`;
}

/** Omits examples: they would double the page. */
const json = (value: unknown): string =>
  `<pre>${escape(JSON.stringify(value, (key, part: unknown) => (key === 'example' ? undefined : part), 2))}</pre>`;

const escape = (value: unknown): string =>
  String(value).replaceAll(
    /[&<>"]/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] ?? '',
  );
