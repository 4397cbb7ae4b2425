import { z } from 'zod';
import { DOWNLOAD_LINK_SECONDS } from '../../api/lifetimes.ts';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { text, Uuid } from '../../api/schemas.ts';
import { VersionParams } from '../versions/versions.schema.ts';
import type { DownloadLinks } from './download-links.service.ts';

const DownloadLinkView = z
  .object({
    url: z.url().meta({
      description: 'downloads the file or folder without a token; whoever has the link can read it',
      example: 'https://files.example.org/api/v1/tickets/dGlja2V0',
    }),
    expires_in: z.int().meta({ description: 'seconds', example: 60 }),
  })
  .meta({ id: 'Ticket' });

const ANY_CONTENT = { stream: '*/*' };
const SEALED_MAX = 1024;

/** `apiUrl`: absolute, without a slash at the end. */
export const downloadLinkEndpoints = (links: DownloadLinks, apiUrl: string): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/files/{id}/ticket',
    operationId: 'createTicket',
    summary: 'Create a link that downloads a file without a token, for 60 s',
    tag: 'files',
    caller: { permission: 'read:files' },
    params: z.object({ id: Uuid }),
    replies: { 201: DownloadLinkView },
    errors: ['not_found'],
    idempotent: 'sealed',
    handle: async ({ actor, params }) =>
      reply(201, { url: `${apiUrl}/tickets/${await links.issue(actor, params.id)}`, expires_in: DOWNLOAD_LINK_SECONDS }),
  }),
  endpoint({
    method: 'post',
    path: '/files/{id}/versions/{number}/ticket',
    operationId: 'createVersionTicket',
    summary: 'Create a link that downloads a version of a file without a token, for 60 s',
    tag: 'versions',
    caller: { permission: 'read:files' },
    params: VersionParams,
    replies: { 201: DownloadLinkView },
    errors: ['not_found'],
    idempotent: 'sealed',
    handle: async ({ actor, params }) =>
      reply(201, {
        url: `${apiUrl}/tickets/${await links.issue(actor, params.id, params.number)}`,
        expires_in: DOWNLOAD_LINK_SECONDS,
      }),
  }),
  endpoint({
    method: 'post',
    path: '/folders/{id}/ticket',
    operationId: 'createFolderTicket',
    summary: 'Create a link that downloads a folder as a ZIP archive without a token, for 60 s',
    tag: 'folders',
    caller: { permission: 'read:files' },
    params: z.object({ id: Uuid }),
    replies: { 201: DownloadLinkView },
    errors: ['not_found'],
    idempotent: 'sealed',
    handle: async ({ actor, params }) =>
      reply(201, { url: `${apiUrl}/tickets/${await links.issueForFolder(actor, params.id)}`, expires_in: DOWNLOAD_LINK_SECONDS }),
  }),
  endpoint({
    method: 'get',
    path: '/tickets/{ticket}',
    operationId: 'downloadByTicket',
    summary: 'Download the file, version, folder or export of a download link, whole or one range of it',
    tag: 'files',
    caller: 'anyone',
    counts: ({ ticket }) => links.holder(ticket),
    params: z.object({ ticket: text(1, SEALED_MAX).meta({ example: 'dGlja2V0' }) }),
    replies: { 200: ANY_CONTENT, 206: ANY_CONTENT, 304: null },
    errors: ['not_found', 'archive_too_large', 'range_not_satisfiable', 'too_many_transfers'],
    handle: ({ params, request }) => links.open(params.ticket, request),
  }),
];
