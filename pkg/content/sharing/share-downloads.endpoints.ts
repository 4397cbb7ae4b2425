import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { ShareDownloadQuery, SharedFileView, ShareParams, SharePassword } from './shares.schema.ts';
import type { ShareDownloads } from './share-downloads.service.ts';

const ANYONE = { tag: 'shares', caller: 'anyone', params: ShareParams } as const;
const ANY_CONTENT = { stream: '*/*' };
const ERRORS: readonly ProblemCode[] = [
  'not_found',
  'share_password_required',
  'share_password_wrong',
  'too_many_attempts',
  'range_not_satisfiable',
  'too_many_transfers',
];

/** What anybody with a share link may call. */
export const shareDownloadEndpoints = (downloads: ShareDownloads): Endpoint[] => [
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}',
    operationId: 'getSharedFile',
    summary: 'Show what a share link gives',
    replies: { 200: SharedFileView },
    errors: ['not_found'],
    handle: async ({ params }) => reply(200, await downloads.show(params.token)),
  }),
  endpoint({
    ...ANYONE,
    method: 'get',
    path: '/s/{token}/download',
    operationId: 'downloadSharedFile',
    summary: 'Download the file of a share link, whole or one range of it',
    query: ShareDownloadQuery,
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: ERRORS,
    setsCookie: true,
    handle: ({ params, query, request }) =>
      downloads.download(
        params.token,
        { password: fromHeader(request.headers['x-share-password']), download: query.download },
        request,
      ),
  }),
  endpoint({
    ...ANYONE,
    method: 'post',
    path: '/s/{token}/download',
    operationId: 'downloadSharedFileWithPassword',
    summary: 'The same with the password as field of a form or in JSON',
    query: ShareDownloadQuery,
    body: { stream: ['application/x-www-form-urlencoded'], schema: SharePassword, json: SharePassword },
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT },
    errors: ERRORS,
    setsCookie: true,
    handle: ({ params, query, body, request }) =>
      downloads.download(params.token, { password: body?.password, download: query.download }, request),
  }),
];

/** A header's bytes are read as Latin-1; a password in UTF-8 is what its bytes say. */
function fromHeader(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
