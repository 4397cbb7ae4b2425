import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { SharedChildPage, SharedChildQuery, SharedFileParams, SharedView } from './folder-links.schema.ts';
import type { FolderLinks } from './folder-links.service.ts';
import { ANY_CONTENT, SHARE_DOWNLOAD_ERRORS } from './share-downloads.endpoints.ts';
import { PASSWORD_HEADER, SESSION_HEADER } from './share-password-header.ts';
import { ShareDownloadQuery, ShareParams } from './shares.schema.ts';

const ZIP = { stream: 'application/zip' };
const ANYONE = { tag: 'shares', caller: 'anyone', counts: 'link', takes: [SESSION_HEADER] } as const;

/** Endpoints for anybody who has a share link: see what it shares; browse and download a shared folder. */
export const folderLinkEndpoints = (links: FolderLinks): Endpoint[] => [
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}',
    operationId: 'getShared',
    summary: 'Show what a link shares; with its password the reply starts a session, in which the password is not sent again',
    params: ShareParams,
    replies: { 200: SharedView },
    takes: [PASSWORD_HEADER, SESSION_HEADER],
    gives: ['X-Share-Session'],
    setsCookie: true,
    errors: ['not_found', 'share_password_wrong', 'too_many_attempts'],
    handle: ({ params, request }) => links.show(params.token, request),
  }),
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}/children',
    operationId: 'listShared',
    summary: 'List the folder of a share link, or a folder below it: folders first, then files',
    params: ShareParams,
    query: SharedChildQuery,
    replies: { 200: SharedChildPage },
    compressed: true,
    errors: ['not_found', 'share_password_required', 'share_password_wrong', 'too_many_attempts'],
    handle: async ({ params, query, request }) => reply(200, await links.children(params.token, query, request)),
  }),
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}/files/{id}/download',
    operationId: 'downloadFromSharedFolder',
    summary: 'Download a file that is in the folder of a share link or below it, whole or one range of it',
    params: SharedFileParams,
    query: ShareDownloadQuery,
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: SHARE_DOWNLOAD_ERRORS,
    setsCookie: true,
    handle: ({ params, query, request }) => links.download(params.token, params.id, query.download, request),
  }),
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}/zip',
    operationId: 'downloadSharedFolder',
    summary: 'Download the folder of a share link with everything in it as a ZIP archive, whole or one range of it',
    params: ShareParams,
    query: ShareDownloadQuery,
    replies: { 200: ZIP, 206: ZIP, 304: null },
    errors: [...SHARE_DOWNLOAD_ERRORS, 'archive_too_large'],
    setsCookie: true,
    handle: ({ params, query, request }) => links.zip(params.token, query.download, request),
  }),
];
