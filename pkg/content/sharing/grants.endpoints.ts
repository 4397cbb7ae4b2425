import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { GrantChanges, NewGrant, GrantPage, GrantQuery, GrantView } from '../model/access/grants.schema.ts';
import { AccessPage, AccessQuery, SharedPage, SharedQuery } from './access-lists.schema.ts';
import type { AccessLists } from './access-lists.service.ts';
import type { Grants } from './grants.service.ts';

const params = z.object({ id: Uuid });
const NAMES = { file: 'File', folder: 'Folder' } as const;

/** Grants on files and folders, by the same operations, and the list of what others granted to the caller. */
export const grantEndpoints = (grants: Grants, lists: AccessLists): Endpoint[] => [
  ...endpointsOf(grants, lists, 'file'),
  ...endpointsOf(grants, lists, 'folder'),
  endpoint({
    method: 'get',
    path: '/shared-with-me',
    operationId: 'listSharedWithMe',
    summary: 'List the files and folders that others granted to the caller',
    tag: 'permissions',
    caller: { permission: 'read:files' },
    query: SharedQuery,
    replies: { 200: SharedPage },
    compressed: true,
    handle: async ({ actor, query }) => reply(200, await lists.sharedWith(actor, query)),
  }),
];

const endpointsOf = (grants: Grants, lists: AccessLists, kind: 'file' | 'folder'): Endpoint[] => [
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
    summary: `Grant a level on a ${kind} to a user or a group; 200 if it changed an existing grant`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params,
    body: NewGrant,
    replies: { 200: GrantView, 201: GrantView },
    errors: ['not_found', 'quota_exceeded'],
    idempotent: true,
    handle: async ({ actor, params, body }) => {
      const { created, grant } = await grants.grant(actor, { kind, uuid: params.id }, body);
      return tagged(created ? 201 : 200, grant);
    },
  }),
  endpoint({
    method: 'get',
    path: `/${kind}s/{id}/access`,
    operationId: `list${NAMES[kind]}Access`,
    summary: `List who has access to a ${kind}, and why`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params,
    query: AccessQuery,
    replies: { 200: AccessPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await lists.accessTo(actor, { kind, uuid: params.id }, query)),
  }),
  endpoint({
    method: 'patch',
    path: `/${kind}s/{id}/permissions/{permission_id}`,
    operationId: `update${NAMES[kind]}Permission`,
    summary: `Change the level or the end of a grant on a ${kind}`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params: z.object({ id: Uuid, permission_id: Uuid }),
    body: GrantChanges,
    replies: { 200: GrantView },
    errors: ['not_found', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) =>
      tagged(200, await grants.change(actor, { kind, uuid: params.id }, params.permission_id, body, request.ifMatch)),
  }),
  endpoint({
    method: 'delete',
    path: `/${kind}s/{id}/permissions/{permission_id}`,
    operationId: `delete${NAMES[kind]}Permission`,
    summary: `Revoke a grant on a ${kind}`,
    tag: 'permissions',
    caller: { permission: 'share:files' },
    params: z.object({ id: Uuid, permission_id: Uuid }),
    replies: { 204: null },
    errors: ['not_found', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, request }) => {
      await grants.revoke(actor, { kind, uuid: params.id }, params.permission_id, request.ifMatch);
      return reply(204);
    },
  }),
];
