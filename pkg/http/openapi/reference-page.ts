import { type Endpoint, problemsOf } from '../../api/endpoint.ts';
import { CATALOGUE } from '../../api/error-catalogue.ts';
import { escapeHtml } from '../../api/page.ts';

/**
 * Returns the body of the reference page: all endpoints, readable without scripts. The script of pkg/web/reference adds a form
 * where an element names its operation. `document` is the OpenAPI document with the bodies.
 */
export function referencePage(endpoints: readonly Endpoint[], document: Record<string, unknown>): string {
  const groups = Map.groupBy(endpoints, ({ tag }) => tag ?? 'other');
  const sections = [...groups].map(
    ([tag, members]) =>
      `<section><h2 id="${escape(tag)}">${escape(tag)}</h2>` +
      `${members.map((endpoint) => card(endpoint, document)).join('')}</section>`,
  );
  const menu = [...groups.keys()].map((tag) => `<a href="#${escape(tag)}">${escape(tag)}</a>`).join(' ');
  return `<main class="r-page"><h1>Carrel API</h1>
<nav aria-label="Groups of operations">${menu} <a href="openapi.json">openapi.json</a></nav>
${sections.join('')}</main>`;
}

/** The page runs only files of the build, and loads nothing from elsewhere. No other site may frame it. */
export const referencePolicy = (files: string): string =>
  [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    `font-src ${files}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

function card(endpoint: Endpoint, document: Record<string, unknown>): string {
  const { operationId, method, path, summary } = endpoint;
  const operation = (document.paths as Record<string, Record<string, Record<string, unknown>>>)[path]?.[method] ?? {};
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
  const errors = problemsOf(endpoint).map(
    (code) =>
      `<tr><td>${CATALOGUE[code].status}</td><td><code>${code}</code></td><td>${escape(CATALOGUE[code].meaning)}</td></tr>`,
  );
  return `<details class="r-operation" id="${escape(operationId)}">
<summary><b class="r-${method}">${method}</b> <code>${escape(path)}</code> ${escape(summary)}</summary>
<p>Caller: ${caller}</p>
<div data-operation="${escape(operationId)}"></div>
${rows.length === 0 ? '' : `<table aria-label="Parameters">${rows.join('')}</table>`}
${operation.requestBody ? `<p>Body</p>${json(operation.requestBody, 'Body of the request')}` : ''}
<p>Replies</p>${json(replies, 'Replies')}
<table aria-label="Errors">${errors.join('')}</table></details>`;
}

/** Omits examples: they would double the page. The region takes the focus, so that the keyboard can scroll it. */
const json = (value: unknown, label: string): string => {
  const text = JSON.stringify(value, (key, part: unknown) => (key === 'example' ? undefined : part), 2);
  return `<pre tabindex="0" role="region" aria-label="${label}">${escape(text)}</pre>`;
};

const escape = (value: unknown): string => escapeHtml(String(value));
