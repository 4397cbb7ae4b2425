import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { queryBoolean, Uuid } from '../../api/schemas.ts';
import type { Downloads } from '../downloads/downloads.service.ts';
import type { Uploads } from '../uploads/uploads.service.ts';
import { presentUpload } from './files.view.ts';
import {
  FileChanges,
  FileGetQuery,
  FilePage,
  FileQuery,
  FileView,
  FileWithIncludes,
  UploadForm,
  UploadView,
  VersionForm,
} from './files.schema.ts';
import type { Files } from './files.service.ts';

const params = z.object({ id: Uuid });
const MULTIPART = ['multipart/form-data'];
const ANY_CONTENT = { stream: '*/*' };

/** `apiUrl`: absolute, without a slash at the end; addresses in replies start with it. */
export const fileEndpoints = (deps: { files: Files; uploads: Uploads; downloads: Downloads; apiUrl: string }): Endpoint[] => {
  const { files, uploads, downloads, apiUrl } = deps;
  return [
    endpoint({
      method: 'get',
      path: '/files',
      operationId: 'listFiles',
      summary: 'List the files that the caller may see',
      tag: 'files',
      caller: { permission: 'read:files' },
      query: FileQuery,
      replies: { 200: FilePage },
      errors: ['not_found'],
      handle: async ({ actor, query }) => reply(200, await files.list(actor, query)),
    }),
    endpoint({
      method: 'post',
      path: '/files',
      operationId: 'uploadFile',
      summary: 'Upload a file; 200 when on_conflict=replace gave a file its next version',
      tag: 'files',
      caller: { permission: 'write:files' },
      body: { stream: MULTIPART, schema: UploadForm },
      replies: { 200: UploadView, 201: UploadView },
      errors: ['not_found', 'forbidden', 'name_conflict', 'quota_exceeded', 'too_many_transfers'],
      idempotent: true,
      handle: async ({ actor, request }) => {
        const { created, file } = await uploads.create(actor, request);
        return tagged(created ? 201 : 200, presentUpload(file, apiUrl));
      },
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
      handle: async ({ actor, params, query }) => {
        const { file, etag } = await files.show(actor, params.id, query.include);
        return reply(200, file, { etag: `"${etag}"` });
      },
    }),
    endpoint({
      method: 'put',
      path: '/files/{id}',
      operationId: 'putFile',
      summary: 'Rename or move a file, as PATCH does (JSON), or give it its next version (multipart)',
      tag: 'files',
      caller: { permission: 'write:files' },
      params,
      body: { stream: MULTIPART, schema: VersionForm, json: FileChanges },
      replies: { 200: FileView },
      errors: ['not_found', 'forbidden', 'name_conflict', 'precondition_failed', 'quota_exceeded', 'too_many_transfers'],
      idempotent: true,
      handle: async ({ actor, params, body, request }) =>
        tagged(
          200,
          body === undefined
            ? await uploads.addVersion(actor, params.id, request)
            : await files.change(actor, params.id, body, request.ifMatch),
        ),
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
      handle: async ({ actor, params, body, request }) => tagged(200, await files.change(actor, params.id, body, request.ifMatch)),
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
        if (query.permanent) await files.purge(actor, params.id, request.ifMatch);
        else await files.trash(actor, params.id, request.ifMatch);
        return reply(204);
      },
    }),
    endpoint({
      method: 'post',
      path: '/files/{id}/restore',
      operationId: 'restoreFile',
      summary: 'Take a file out of the trash',
      tag: 'files',
      caller: { permission: 'write:files' },
      params,
      replies: { 200: FileView },
      errors: ['not_found', 'forbidden', 'name_conflict', 'conflict', 'precondition_failed'],
      idempotent: true,
      handle: async ({ actor, params, request }) => tagged(200, await files.restore(actor, params.id, request.ifMatch)),
    }),
    endpoint({
      method: 'get',
      path: '/files/{id}/download',
      operationId: 'downloadFile',
      summary: "Download a file's content, whole or one range of it",
      tag: 'files',
      caller: { permission: 'read:files' },
      params,
      replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
      errors: ['not_found', 'range_not_satisfiable', 'too_many_transfers'],
      handle: ({ actor, params, request }) => downloads.open(actor, params.id, request),
    }),
  ];
};
