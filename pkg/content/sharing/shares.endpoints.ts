import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { AllSharesQuery, NewFolderShare, NewShare, ShareChanges, SharePage, ShareQuery, ShareView } from './shares.schema.ts';
import type { Shares } from './shares.service.ts';

const ById = z.object({ id: Uuid });
const SHARING = { tag: 'shares', caller: { permission: 'share:files' } } as const;
/** People who may no longer share files can still see, switch off and delete the links that they made. */
const OWN = { tag: 'shares', caller: 'user' } as const;
const CHANGE = { ...OWN, params: ById, body: ShareChanges, replies: { 200: ShareView }, idempotent: true } as const;
const CHANGE_ERRORS = ['not_found', 'forbidden', 'precondition_failed', 'share_policy'] as const;

export const shareEndpoints = (shares: Shares): Endpoint[] => [
  endpoint({
    ...SHARING,
    method: 'post',
    path: '/files/{id}/share',
    operationId: 'createShare',
    summary: 'Create a share link; anybody who has it may download the file',
    params: ById,
    body: NewShare,
    replies: { 201: ShareView },
    errors: ['not_found', 'quota_exceeded', 'share_policy'],
    idempotent: true,
    handle: async ({ actor, params, body }) => tagged(201, await shares.create(actor, { kind: 'file', uuid: params.id }, body)),
  }),
  endpoint({
    ...SHARING,
    method: 'get',
    path: '/files/{id}/shares',
    operationId: 'listFileShares',
    summary: 'List the share links of a file',
    params: ById,
    query: ShareQuery,
    replies: { 200: SharePage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await shares.listOf(actor, { kind: 'file', uuid: params.id }, query)),
  }),
  endpoint({
    ...SHARING,
    method: 'post',
    path: '/folders/{id}/share',
    operationId: 'createFolderShare',
    summary: 'Create a share link for a folder; anybody who has it may download its content, upload into it, or both',
    params: ById,
    body: NewFolderShare,
    replies: { 201: ShareView },
    errors: ['not_found', 'quota_exceeded', 'share_policy'],
    idempotent: true,
    handle: async ({ actor, params, body }) => tagged(201, await shares.create(actor, { kind: 'folder', uuid: params.id }, body)),
  }),
  endpoint({
    ...SHARING,
    method: 'get',
    path: '/folders/{id}/shares',
    operationId: 'listFolderShares',
    summary: 'List the share links of a folder',
    params: ById,
    query: ShareQuery,
    replies: { 200: SharePage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) =>
      reply(200, await shares.listOf(actor, { kind: 'folder', uuid: params.id }, query)),
  }),
  endpoint({
    ...OWN,
    method: 'get',
    path: '/shares',
    operationId: 'listShares',
    summary: "List the caller's own share links; for an administrator all links, without the tokens of others",
    query: AllSharesQuery,
    replies: { 200: SharePage },
    handle: async ({ actor, query }) => reply(200, await shares.list(actor, query)),
  }),
  endpoint({
    ...OWN,
    method: 'get',
    path: '/shares/{id}',
    operationId: 'getShare',
    summary: 'Show a share link',
    params: ById,
    replies: { 200: ShareView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => tagged(200, await shares.get(actor, params.id)),
  }),
  endpoint({
    ...CHANGE,
    method: 'put',
    path: '/shares/{id}',
    operationId: 'putShare',
    summary: 'Change some fields of a share link, as PATCH does',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) => tagged(200, await shares.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...CHANGE,
    method: 'patch',
    path: '/shares/{id}',
    operationId: 'updateShare',
    summary: 'Change the password, end or limit of a share link, or switch it off or on',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) => tagged(200, await shares.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...OWN,
    method: 'delete',
    path: '/shares/{id}',
    operationId: 'deleteShare',
    summary: 'Delete a share link',
    params: ById,
    replies: { 204: null },
    errors: ['not_found', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, request }) => {
      await shares.remove(actor, params.id, request.ifMatch);
      return reply(204);
    },
  }),
];
