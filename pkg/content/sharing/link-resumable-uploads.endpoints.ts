import { z } from 'zod';
import { type Endpoint, endpoint, type Reply, reply, type ReplyHeaders } from '../../api/endpoint.ts';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { Uuid } from '../../api/schemas.ts';
import {
  CAPABILITIES,
  capabilities,
  Chunk,
  inTus,
  OFFSET,
  present,
  UploadState,
} from '../uploads/partial/partial-uploads.endpoints.ts';
import type { PartialUploads } from '../uploads/partial/partial-uploads.service.ts';
import type { PartialUpload } from '../uploads/partial/partial-uploads.sql.ts';
import { CHUNK_TYPE, headersOf, stateOf, TAKES, TUS_VERSION } from '../uploads/partial/tus-headers.ts';
import { LINK_UPLOAD_ERRORS } from './link-uploads.endpoints.ts';
import type { LinkUploads } from './link-uploads.service.ts';
import { PASSWORD_HEADER, SESSION_HEADER } from './share-password-header.ts';
import { ShareParams } from './shares.schema.ts';

const params = ShareParams.extend({ id: Uuid });
const LINK = [PASSWORD_HEADER, SESSION_HEADER];
const ADMISSION: readonly ProblemCode[] = [
  'not_found',
  'share_password_required',
  'share_password_wrong',
  'too_many_attempts',
  'upload_expired',
  'tus_version_unsupported',
];
const ANYONE = { tag: 'shares', caller: 'anyone', counts: 'link', overridable: true } as const;

/** Hides from the sender which file the upload became. */
const shown = (upload: PartialUpload): PartialUpload => ({ ...upload, file: null });
const state = (status: number, upload: PartialUpload, headers: ReplyHeaders): Reply =>
  reply(status, present(shown(upload)), headers);

/** Uploads in several requests (tus 1.0) into the folder of a share link. */
export const linkResumableUploadEndpoints = ({
  links,
  uploads,
}: {
  readonly links: LinkUploads;
  readonly uploads: PartialUploads;
}): Endpoint[] => [
  endpoint({
    method: 'options',
    path: '/s/{token}/uploads',
    operationId: 'getUploadCapabilitiesByLink',
    summary: 'Show the tus versions and extensions that uploads by a share link support',
    tag: 'shares',
    caller: 'anyone',
    counts: 'link',
    params: ShareParams,
    replies: { 204: null },
    gives: CAPABILITIES,
    errors: ['not_found'],
    handle: async ({ params }) => {
      await links.require(params.token);
      return capabilities(uploads);
    },
  }),
  endpoint({
    ...ANYONE,
    method: 'post',
    path: '/s/{token}/uploads',
    operationId: 'createUploadByLink',
    summary: 'Start a tus 1.0 upload in several requests by a share link; Upload-Metadata has filename and uploaded_by',
    params: ShareParams,
    body: { stream: [CHUNK_TYPE], schema: Chunk, json: z.object({}) },
    takes: [...LINK, TAKES.version, TAKES.length, TAKES.deferred, TAKES.metadata, TAKES.checksum],
    gives: [...OFFSET, 'X-Share-Session'],
    setsCookie: true,
    replies: { 201: UploadState },
    errors: [...LINK_UPLOAD_ERRORS, 'conflict', 'tus_version_unsupported', 'checksum_mismatch'],
    handle: ({ params, body, request }) =>
      inTus(request, () =>
        links.begin(params.token, request, async (by, headers) => {
          const upload = await uploads.create(by, request, body === undefined);
          return state(201, upload, { ...headersOf(shown(upload)), ...headers });
        }),
      ),
  }),
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}/uploads/{id}',
    operationId: 'getUploadByLink',
    summary: 'Show how much of an upload by a share link is stored; tus uses HEAD for this',
    params,
    takes: [SESSION_HEADER, TAKES.version],
    gives: [...OFFSET, 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata'],
    replies: { 200: UploadState },
    errors: ADMISSION,
    handle: ({ params, request }) =>
      inTus(request, () =>
        links.continue(params.token, request, async (by) => {
          const upload = await uploads.get(by, params.id);
          return state(200, upload, stateOf(shown(upload)));
        }),
      ),
  }),
  endpoint({
    ...ANYONE,
    method: 'patch',
    path: '/s/{token}/uploads/{id}',
    operationId: 'continueUploadByLink',
    summary: 'Send the next bytes of an upload by a share link',
    params,
    body: { stream: [CHUNK_TYPE], schema: Chunk },
    takes: [...LINK, TAKES.version, TAKES.offset, TAKES.length, TAKES.checksum],
    gives: OFFSET,
    replies: { 204: null },
    errors: [...ADMISSION, 'name_conflict', 'conflict', 'quota_exceeded', 'too_many_transfers', 'checksum_mismatch'],
    handle: ({ params, request }) =>
      inTus(request, () =>
        links.continue(params.token, request, async (by) =>
          reply(204, undefined, headersOf(shown(await uploads.append(by, params.id, request)))),
        ),
      ),
  }),
  endpoint({
    ...ANYONE,
    method: 'delete',
    path: '/s/{token}/uploads/{id}',
    operationId: 'deleteUploadByLink',
    summary: 'Delete an upload by a share link and its stored bytes; if it is complete, its file stays',
    params,
    takes: [...LINK, TAKES.version],
    gives: ['Tus-Resumable'],
    replies: { 204: null },
    errors: ADMISSION,
    handle: ({ params, request }) =>
      inTus(request, () =>
        links.continue(params.token, request, async (by) => {
          await uploads.delete(by, params.id);
          return reply(204, undefined, { 'Tus-Resumable': TUS_VERSION });
        }),
      ),
  }),
];
