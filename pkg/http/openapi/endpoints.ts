import { z } from 'zod';
import { endpoint, type Endpoint, reply } from '../../api/endpoint.ts';
import { type DescribedApi, openApiDocument } from './document.ts';
import { REFERENCE_PAGE_CSP, referencePage } from './reference-page.ts';

/**
 * The public description of the API, as OpenAPI and as a page. Each is built on the first request: that takes a tenth of a second
 * of CPU, a fifth of a server's start, and most servers never get one.
 */
export function referenceEndpoints(described: readonly Endpoint[], at: Omit<DescribedApi, 'endpoints'>): Endpoint[] {
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
      path: '/docs',
      operationId: 'getReferencePage',
      summary: 'This description as a page',
      tag: 'reference',
      caller: 'anyone',
      replies: { 200: { stream: 'text/html' } },
      handle: async () =>
        reply(200, page(), {
          ...CACHEABLE,
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': REFERENCE_PAGE_CSP,
        }),
    }),
  ];
  const all = [...described, ...own];
  const document = lazy(() => openApiDocument({ ...at, endpoints: all }));
  const page = lazy(() => referencePage(all, document()));
  return own;
}

const CACHEABLE = { 'Cache-Control': 'public, max-age=300' };

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
