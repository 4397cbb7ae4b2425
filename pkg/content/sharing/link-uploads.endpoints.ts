import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import type { Uploads } from '../uploads/uploads.service.ts';
import { LinkUploadForm, SentFile } from './folder-links.schema.ts';
import type { LinkUploads } from './link-uploads.service.ts';
import { PASSWORD_HEADER, SESSION_HEADER } from './share-password-header.ts';
import { ShareParams } from './shares.schema.ts';

export const LINK_UPLOAD_ERRORS: readonly ProblemCode[] = [
  'not_found',
  'share_password_required',
  'share_password_wrong',
  'too_many_attempts',
  'name_conflict',
  'quota_exceeded',
  'too_many_transfers',
];

/** Uploads into a folder by anybody who has its link. */
export const linkUploadEndpoints = ({ links, uploads }: { links: LinkUploads; uploads: Uploads }): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/s/{token}/files',
    operationId: 'uploadByLink',
    summary: 'Upload a file into the folder of a share link; if its name is taken, it is renamed',
    tag: 'shares',
    caller: 'anyone',
    counts: 'link',
    params: ShareParams,
    body: { stream: ['multipart/form-data'], schema: LinkUploadForm },
    takes: [PASSWORD_HEADER, SESSION_HEADER],
    gives: ['X-Share-Session'],
    setsCookie: true,
    replies: { 201: SentFile },
    errors: LINK_UPLOAD_ERRORS,
    handle: ({ params, request }) =>
      links.begin(params.token, request, async (by, headers) => {
        const { sentAs, file } = await uploads.create(by, request);
        return reply(201, { name: sentAs, size: file.size, sent_at: file.createdAt }, headers);
      }),
  }),
];
