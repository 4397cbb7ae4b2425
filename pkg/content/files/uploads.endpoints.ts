import { z } from 'zod';
import { type Endpoint, endpoint, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { FileChanges, FileCopy, FileView, UploadForm, UploadView, VersionForm } from '../model/files/files.schema.ts';
import { presentUpload } from '../model/files/files.view.ts';
import type { Uploads } from '../uploads/uploads.service.ts';
import type { AddVersion } from '../versions/add-version.ts';
import type { CopyFile } from './copy-file.ts';
import type { FileMoves } from './file-moves.service.ts';

const params = z.object({ id: Uuid });
const MULTIPART = ['multipart/form-data'];

/** `apiUrl`: absolute, without a trailing slash; URLs in replies start with it. */
export const uploadEndpoints = ({
  uploads,
  versions,
  moves,
  copies,
  apiUrl,
}: {
  readonly uploads: Uploads;
  readonly versions: AddVersion;
  readonly moves: FileMoves;
  readonly copies: CopyFile;
  readonly apiUrl: string;
}): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/files',
    operationId: 'uploadFile',
    summary: 'Upload a file; 200 if on_conflict=replace added a version to an existing file',
    tag: 'files',
    caller: { permission: 'write:files' },
    body: { stream: MULTIPART, schema: UploadForm },
    replies: { 200: UploadView, 201: UploadView },
    errors: ['not_found', 'forbidden', 'name_conflict', 'quota_exceeded', 'too_many_transfers'],
    idempotent: true,
    handle: async ({ actor, request }) => {
      const { created, file } = await uploads.create(uploads.signedIn(actor), request);
      return tagged(created ? 201 : 200, presentUpload(file, apiUrl));
    },
  }),
  endpoint({
    method: 'put',
    path: '/files/{id}',
    operationId: 'putFile',
    summary: 'Rename or move a file, as PATCH does (JSON), or add a version to it (multipart)',
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
          ? await versions.add(actor, params.id, request)
          : await moves.change(actor, params.id, body, request.ifMatch),
      ),
  }),
  endpoint({
    method: 'post',
    path: '/files/{id}/copy',
    operationId: 'copyFile',
    summary: "Copy a file with its metadata and the caller's tags; the caller owns the copy",
    tag: 'files',
    caller: { permission: 'write:files' },
    params,
    body: FileCopy,
    replies: { 201: UploadView },
    errors: ['not_found', 'forbidden', 'name_conflict', 'quota_exceeded', 'too_many_transfers'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) =>
      tagged(201, presentUpload(await copies.copy(actor, params.id, body, request), apiUrl)),
  }),
];
