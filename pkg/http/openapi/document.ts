import type { Endpoint } from '../../api/endpoint.ts';
import { HEADERS } from './headers.ts';
import { ERROR_DETAILS, headOperation, operation } from './operation.ts';
import { type Json, SchemaBook } from './schema-book.ts';
import { webhookDescriptions } from './webhooks.ts';

/** `info.version` (docs/design/api-conventions.md). */
const API_VERSION = '1.0';

export interface DescribedApi {
  readonly endpoints: readonly Endpoint[];
  /** Absolute, without a trailing slash. */
  readonly apiUrl: string;
  /** `name` is the name that people use. */
  readonly tenant: { readonly slug: string; readonly id: string; readonly name: string | undefined };
}

/** Returns the OpenAPI 3.1 document of these endpoints: all possible statuses, shapes and headers of each, and its parameters. */
export function openApiDocument({ endpoints, apiUrl, tenant }: DescribedApi): Json {
  const schemas = new SchemaBook();
  const addresses = new Set(endpoints.map(({ method, path }) => `${method} ${path}`));
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const described = operation(endpoint, schemas, addresses.has(`get ${endpoint.path}/{id}`));
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method]: described,
      ...(endpoint.method === 'get' ? { head: headOperation(described) } : {}),
    };
  }
  const webhooks = webhookDescriptions(schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: tenant.name === undefined ? 'Carrel' : `Carrel – ${tenant.name}`,
      version: API_VERSION,
      description:
        'Files, folders and people of one tenant. Errors have one shape; `error` is a code of the catalogue. ' +
        'Another method on one of these paths is 405 `method_not_allowed` with `Allow`, another path 404 `not_found`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: apiUrl }],
    tags: [...new Set(endpoints.map(({ tag }) => tag ?? 'other'))].map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      schemas: { ...schemas.components(), ErrorDetails: ERROR_DETAILS },
      headers: HEADERS,
      parameters: {
        tenant: {
          name: 'X-Tenant-ID',
          in: 'header',
          description:
            "The tenant's slug or numeric id; routes on the shared API host. Another tenant's is 403 `tenant_mismatch`.",
          schema: { type: 'string', pattern: `^(${tenant.slug}|${tenant.id})$` },
          example: tenant.slug,
        },
        requestId: {
          name: 'X-Request-Id',
          in: 'header',
          description: 'Used if it is 8 to 128 of A-Z a-z 0-9 . _ -, otherwise replaced',
          schema: { type: 'string' },
          example: 'import-2026-01-31',
        },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From POST /auth/login; 900 s.' },
      },
    },
  };
}
