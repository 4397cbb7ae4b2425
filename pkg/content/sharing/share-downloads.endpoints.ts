import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { passwordOf, SESSION_HEADER } from './share-password-header.ts';
import { ShareDownloadQuery, ShareParams, SharePassword } from './shares.schema.ts';
import type { ShareDownloads } from './share-downloads.service.ts';

const ANYONE = { tag: 'shares', caller: 'anyone', counts: 'link', params: ShareParams } as const;
export const ANY_CONTENT = { stream: '*/*' };
export const SHARE_DOWNLOAD_ERRORS: readonly ProblemCode[] = [
  'not_found',
  'share_password_required',
  'share_password_wrong',
  'too_many_attempts',
  'range_not_satisfiable',
  'too_many_transfers',
];

/** Endpoints for anybody who has the share link of a file. */
export const shareDownloadEndpoints = (downloads: ShareDownloads): Endpoint[] => [
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}/download',
    operationId: 'downloadSharedFile',
    summary: 'Download the file of a share link, whole or one range of it',
    query: ShareDownloadQuery,
    takes: [SESSION_HEADER],
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: SHARE_DOWNLOAD_ERRORS,
    setsCookie: true,
    handle: ({ params, query, request }) =>
      downloads.download(params.token, { password: passwordOf(request), download: query.download }, request),
  }),
  endpoint({
    ...ANYONE,
    method: 'post',
    path: '/s/{token}/download',
    operationId: 'downloadSharedFileWithPassword',
    summary: 'Download the file of a share link; the password is sent in a form field or in JSON',
    query: ShareDownloadQuery,
    body: { stream: ['application/x-www-form-urlencoded'], schema: SharePassword, json: SharePassword },
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT },
    errors: SHARE_DOWNLOAD_ERRORS,
    setsCookie: true,
    handle: ({ params, query, body, request }) =>
      downloads.download(params.token, { password: body?.password, download: query.download }, request),
  }),
];
