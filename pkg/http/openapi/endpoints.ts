import { z } from 'zod';
import { endpoint, type Endpoint, reply } from '../../api/endpoint.ts';
import { PageProblem, type WebContent, type WebPages } from '../../api/page.ts';
import { cspSourceOfBuild } from '../csp-source.ts';
import { type DescribedApi, openApiDocument } from './document.ts';
import { referencePage, referencePolicy } from './reference-page.ts';

/**
 * The public description of the API, as OpenAPI and as a page. Each is built on the first request: that takes a tenth of a second
 * of CPU, a fifth of a server's start, and most servers never get one.
 */
export function referenceEndpoints(
  described: readonly Endpoint[],
  { web, ...at }: Omit<DescribedApi, 'endpoints'> & { readonly web: WebPages },
): Endpoint[] {
  const policy = referencePolicy(cspSourceOfBuild(new URL(at.apiUrl).host));
  const own: Endpoint[] = [
    endpoint({
      method: 'get',
      path: '/openapi.json',
      operationId: 'getOpenApiDocument',
      summary: 'This description',
      tag: 'reference',
      caller: 'anyone',
      replies: { 200: z.looseObject({ openapi: z.string() }).meta({ example: { openapi: '3.1.0' } }) },
      handle: async () => reply(200, document(), CACHEABLE),
    }),
    endpoint({
      method: 'get',
      path: '/reference',
      operationId: 'getReferencePage',
      summary: 'This description as a page, on which operations can be tried',
      tag: 'reference',
      caller: 'anyone',
      replies: { 200: { stream: 'text/html' } },
      handle: async () =>
        reply(200, page(), {
          // Its script has another name in another release.
          'Cache-Control': 'no-cache',
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': policy,
        }),
    }),
  ];
  const all = [...described, ...own];
  const document = lazy(() => openApiDocument({ ...at, endpoints: all }));
  const page = lazy(() => documentOf(web, { title: 'Carrel API', body: referencePage(all, document()) }));
  return own;
}

/** Without a build of the pages, the text is there without its script. */
function documentOf(web: WebPages, content: WebContent): string {
  try {
    return web.document('reference', content);
  } catch (error) {
    if (error instanceof PageProblem) return web.notice(content);
    throw error;
  }
}

const CACHEABLE = { 'Cache-Control': 'public, max-age=300' };

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
