import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import type { FolderArchives } from './folder-archives.service.ts';

const ZIP = { stream: 'application/zip' };

export const archiveEndpoints = (archives: FolderArchives): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/folders/{id}/zip',
    operationId: 'downloadFolder',
    summary: 'Download a folder with all its content as a ZIP archive, whole or one range of it',
    tag: 'folders',
    caller: { permission: 'read:files' },
    params: z.object({ id: Uuid }),
    replies: { 200: ZIP, 206: ZIP, 304: null },
    errors: ['not_found', 'archive_too_large', 'range_not_satisfiable', 'too_many_transfers'],
    handle: ({ actor, params, request }) => archives.open(actor, params.id, request),
  }),
];
