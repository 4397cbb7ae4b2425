import { z } from 'zod';
import { type Endpoint, endpoint, type Reply, reply, type RequestInfo } from '../../../api/endpoint.ts';
import type { Actor } from '../../../api/actor.ts';
import { Problem } from '../../../api/problem.ts';
import { Bytes, Timestamp, Uuid } from '../../../api/schemas.ts';
import type { Uploader } from '../uploader.ts';
import type { PartialUploads } from './partial-uploads.service.ts';
import type { PartialUpload } from './partial-uploads.sql.ts';
import {
  CHUNK_TYPE,
  headersOf,
  requireVersion,
  requireWhole,
  stateOf,
  TAKES,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from './tus-headers.ts';

const params = z.object({ id: Uuid });
export const Chunk = z.string().meta({ format: 'binary', description: 'the bytes from the offset on', example: 'bytes' });
export const UploadState = z
  .object({
    id: Uuid,
    offset: Bytes,
    length: Bytes.nullable(),
    expires_at: Timestamp,
    file_id: Uuid.nullable(),
  })
  .meta({
    id: 'UploadState',
    description: 'An upload in several requests; `file_id` is set once it is complete, and null by a share link.',
  });

export const present = ({ uuid, received, length, expiresAt, file }: PartialUpload): z.output<typeof UploadState> => ({
  id: uuid,
  offset: received,
  length,
  expires_at: expiresAt.toISOString(),
  file_id: file,
});

export const OFFSET = ['Tus-Resumable', 'Upload-Offset', 'Upload-Expires', 'X-Carrel-File'];

export const CAPABILITIES = ['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm'];

export const capabilities = ({ maxBytes }: Pick<PartialUploads, 'maxBytes'>): Reply =>
  reply(204, undefined, {
    'Tus-Resumable': TUS_VERSION,
    'Tus-Version': TUS_VERSION,
    'Tus-Extension': TUS_EXTENSIONS,
    'Tus-Max-Size': String(maxBytes),
    'Tus-Checksum-Algorithm': 'sha256',
  });

/** Names the version that the server speaks in every reply, errors too. */
export async function inTus(request: RequestInfo, work: () => Promise<Reply>): Promise<Reply> {
  try {
    requireWhole(request);
    requireVersion(request);
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message, details, retryAfter } = error;
    throw new Problem(code, message, {
      ...(details === undefined ? {} : { details }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      headers: {
        ...error.headers,
        'Tus-Resumable': TUS_VERSION,
        ...(error.status === 412 ? { 'Tus-Version': TUS_VERSION } : {}),
      },
      cause: error.cause,
    });
  }
}

/** Uploads in several requests, by tus 1.0 (https://tus.io/protocols/resumable-upload). */
export const partialUploadEndpoints = (uploads: PartialUploads, by: (actor: Actor) => Uploader): Endpoint[] => [
  endpoint({
    method: 'options',
    path: '/files/uploads',
    operationId: 'getUploadCapabilities',
    summary: 'Show which parts of tus the server supports',
    tag: 'files',
    caller: 'anyone',
    replies: { 204: null },
    gives: CAPABILITIES,
    handle: () => Promise.resolve(capabilities(uploads)),
  }),
  endpoint({
    method: 'post',
    path: '/files/uploads',
    operationId: 'createUpload',
    summary: 'Begin an upload in several requests (tus 1.0), perhaps with its first bytes',
    tag: 'files',
    overridable: true,
    caller: { permission: 'write:files' },
    body: { stream: [CHUNK_TYPE], schema: Chunk, json: z.object({}) },
    takes: [TAKES.version, TAKES.length, TAKES.deferred, TAKES.metadata, TAKES.checksum],
    gives: OFFSET,
    replies: { 201: UploadState },
    idempotent: true,
    errors: [
      'not_found',
      'forbidden',
      'name_conflict',
      'conflict',
      'quota_exceeded',
      'too_many_transfers',
      'tus_version_unsupported',
      'checksum_mismatch',
    ],
    handle: ({ actor, body, request }) =>
      inTus(request, async () => {
        const upload = await uploads.create(by(actor), request, body === undefined);
        return reply(201, present(upload), headersOf(upload));
      }),
  }),
  endpoint({
    method: 'get',
    path: '/files/uploads/{id}',
    operationId: 'getUpload',
    summary: 'Show how much of an upload is stored (HEAD of tus)',
    tag: 'files',
    overridable: true,
    caller: { permission: 'write:files' },
    params,
    takes: [TAKES.version],
    gives: [...OFFSET, 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata'],
    replies: { 200: UploadState },
    errors: ['not_found', 'upload_expired', 'tus_version_unsupported'],
    handle: ({ actor, params, request }) =>
      inTus(request, async () => {
        const upload = await uploads.get(by(actor), params.id);
        return reply(200, present(upload), stateOf(upload));
      }),
  }),
  endpoint({
    method: 'patch',
    path: '/files/uploads/{id}',
    operationId: 'continueUpload',
    summary: 'Send the next bytes of an upload; the reply to the last one names the file in X-Carrel-File',
    tag: 'files',
    overridable: true,
    caller: { permission: 'write:files' },
    params,
    body: { stream: [CHUNK_TYPE], schema: Chunk },
    takes: [TAKES.version, TAKES.offset, TAKES.length, TAKES.checksum],
    gives: OFFSET,
    replies: { 204: null },
    errors: [
      'not_found',
      'forbidden',
      'name_conflict',
      'conflict',
      'upload_expired',
      'quota_exceeded',
      'too_many_transfers',
      'tus_version_unsupported',
      'checksum_mismatch',
    ],
    handle: ({ actor, params, request }) =>
      inTus(request, async () => reply(204, undefined, headersOf(await uploads.append(by(actor), params.id, request)))),
  }),
  endpoint({
    method: 'delete',
    path: '/files/uploads/{id}',
    operationId: 'deleteUpload',
    summary: 'Delete an upload with its stored bytes; a file that was made of it stays',
    tag: 'files',
    overridable: true,
    caller: { permission: 'write:files' },
    params,
    takes: [TAKES.version],
    gives: ['Tus-Resumable'],
    replies: { 204: null },
    errors: ['not_found', 'upload_expired', 'tus_version_unsupported'],
    handle: ({ actor, params, request }) =>
      inTus(request, async () => {
        await uploads.delete(by(actor), params.id);
        return reply(204, undefined, { 'Tus-Resumable': TUS_VERSION });
      }),
  }),
];
