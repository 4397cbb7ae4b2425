import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { queryBoolean, Uuid } from '../../api/schemas.ts';
import { FileGetQuery, FilePage, FileQuery, FileWithIncludes } from '../lists/file-list.schema.ts';
import type { FileLists } from '../lists/file-lists.service.ts';
import { FileChanges, FileRestoration, FileView } from '../model/files/files.schema.ts';
import { fileEntry } from '../model/files/files.service.ts';
import type { FileMoves } from './file-moves.service.ts';
import type { FileTrash } from './file-trash.service.ts';

const params = z.object({ id: Uuid });

export const fileEndpoints = ({
  lists,
  moves,
  trash,
}: {
  readonly lists: FileLists;
  readonly moves: FileMoves;
  readonly trash: FileTrash;
}): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/files',
    operationId: 'listFiles',
    summary: 'List the files that the caller may see',
    tag: 'files',
    caller: { permission: 'read:files' },
    query: FileQuery,
    replies: { 200: FilePage },
    compressed: true,
    errors: ['not_found'],
    handle: async ({ actor, query }) => reply(200, await lists.listAsJson(actor, query)),
  }),
  endpoint({
    method: 'get',
    path: '/files/{id}',
    operationId: 'getFile',
    summary: "Show a file's metadata",
    tag: 'files',
    caller: { permission: 'read:files' },
    params,
    query: FileGetQuery,
    replies: { 200: FileWithIncludes },
    errors: ['not_found'],
    record: ({ id }) => fileEntry(id),
    handle: async ({ actor, params, query, record }) => {
      const { file, etag } = await lists.show(actor, params.id, { include: query.include, found: record });
      return reply(200, file, { etag: `"${etag}"` });
    },
  }),
  endpoint({
    method: 'patch',
    path: '/files/{id}',
    operationId: 'updateFile',
    summary: 'Rename or move a file',
    tag: 'files',
    caller: { permission: 'write:files' },
    params,
    body: FileChanges,
    replies: { 200: FileView },
    errors: ['not_found', 'forbidden', 'name_conflict', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) => tagged(200, await moves.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    method: 'delete',
    path: '/files/{id}',
    operationId: 'deleteFile',
    summary: 'Move a file to the trash, or with permanent=true delete it for ever',
    tag: 'files',
    caller: { permission: 'write:files' },
    params,
    query: z.object({ permanent: queryBoolean().optional() }),
    replies: { 204: null },
    errors: ['not_found', 'forbidden', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, query, request }) => {
      if (query.permanent) await trash.purge(actor, params.id, request.ifMatch);
      else await trash.trash(actor, params.id, request.ifMatch);
      return reply(204);
    },
  }),
  endpoint({
    method: 'post',
    path: '/files/{id}/restore',
    operationId: 'restoreFile',
    summary: 'Restore a file from the trash',
    tag: 'files',
    caller: { permission: 'write:files' },
    params,
    body: FileRestoration,
    replies: { 200: FileView },
    errors: ['not_found', 'forbidden', 'name_conflict', 'conflict', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) => tagged(200, await trash.restore(actor, params.id, body, request.ifMatch)),
  }),
];
