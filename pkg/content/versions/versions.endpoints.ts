import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { FileView } from '../model/files/files.schema.ts';
import { VersionPage, VersionParams, VersionQuery, VersionRestoration, VersionView } from './versions.schema.ts';
import type { Versions } from './versions.service.ts';

const READ = { tag: 'versions', caller: { permission: 'read:files' } } as const;
const WRITE = { tag: 'versions', caller: { permission: 'write:files' }, params: VersionParams } as const;
const ANY_CONTENT = { stream: '*/*' };

export const versionEndpoints = (versions: Versions): Endpoint[] => [
  endpoint({
    ...READ,
    method: 'get',
    path: '/files/{id}/versions',
    operationId: 'listVersions',
    summary: 'List the versions of a file, the newest first',
    params: z.object({ id: Uuid }),
    query: VersionQuery,
    replies: { 200: VersionPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await versions.list(actor, params.id, query)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/files/{id}/versions/{number}',
    operationId: 'getVersion',
    summary: 'Show a version of a file',
    params: VersionParams,
    replies: { 200: VersionView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => reply(200, await versions.get(actor, params.id, params.number)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/files/{id}/versions/{number}/download',
    operationId: 'downloadVersion',
    summary: "Download a version's content, whole or one range of it",
    params: VersionParams,
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: ['not_found', 'range_not_satisfiable', 'too_many_transfers'],
    handle: ({ actor, params, request }) => versions.open(actor, params.id, params.number, request),
  }),
  endpoint({
    ...WRITE,
    method: 'post',
    path: '/files/{id}/versions/{number}/restore',
    operationId: 'restoreVersion',
    summary: 'Restore an old version: its content becomes a new version',
    body: VersionRestoration,
    replies: { 200: FileView },
    errors: ['not_found', 'forbidden', 'precondition_failed', 'quota_exceeded'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) =>
      tagged(200, await versions.restore(actor, params.id, params.number, { comment: body.comment, ifMatch: request.ifMatch })),
  }),
  endpoint({
    ...WRITE,
    method: 'delete',
    path: '/files/{id}/versions/{number}',
    operationId: 'deleteVersion',
    summary: "Delete an old version for ever; If-Match takes the file's entity tag",
    replies: { 204: null },
    errors: ['not_found', 'forbidden', 'conflict', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, request }) => {
      await versions.remove(actor, params.id, params.number, request.ifMatch);
      return reply(204);
    },
  }),
];
