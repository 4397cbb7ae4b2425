import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { NewGrant, GrantPage, GrantQuery, GrantView } from './grants.schema.ts';
import type { Grants } from './grants.service.ts';

const params = z.object({ id: Uuid });
const NAMES = { file: 'File', folder: 'Folder' } as const;

/** The same three operations on files and on folders. */
export const grantEndpoints = (grants: Grants): Endpoint[] => [...endpointsOf(grants, 'file'), ...endpointsOf(grants, 'folder')];

const endpointsOf = (grants: Grants, kind: 'file' | 'folder'): Endpoint[] => [
  endpoint({
    method: 'get',
    path: `/${kind}s/{id}/permissions`,
    operationId: `list${NAMES[kind]}Permissions`,
    summary: `List the grants on a ${kind}`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params,
    query: GrantQuery,
    replies: { 200: GrantPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await grants.list(actor, { kind, uuid: params.id }, query)),
  }),
  endpoint({
    method: 'post',
    path: `/${kind}s/{id}/permissions`,
    operationId: `create${NAMES[kind]}Permission`,
    summary: `Grant a level on a ${kind} to a user or a group; 200 when it changed a grant that was there`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params,
    body: NewGrant,
    replies: { 200: GrantView, 201: GrantView },
    errors: ['not_found'],
    idempotent: true,
    handle: async ({ actor, params, body }) => {
      const { created, grant } = await grants.grant(actor, { kind, uuid: params.id }, body);
      return reply(created ? 201 : 200, grant);
    },
  }),
  endpoint({
    method: 'delete',
    path: `/${kind}s/{id}/permissions/{permission_id}`,
    operationId: `delete${NAMES[kind]}Permission`,
    summary: `Take back a grant on a ${kind}`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params: z.object({ id: Uuid, permission_id: Uuid }),
    replies: { 204: null },
    errors: ['not_found'],
    idempotent: true,
    handle: async ({ actor, params }) => {
      await grants.revoke(actor, { kind, uuid: params.id }, params.permission_id);
      return reply(204);
    },
  }),
];
