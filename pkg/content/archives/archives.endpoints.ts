import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import type { FolderArchives } from './folder-archives.service.ts';

export const archiveEndpoints = (archives: FolderArchives): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/folders/{id}/zip',
    operationId: 'downloadFolder',
    summary: 'Download a folder with all that is in it, as a ZIP archive',
    tag: 'folders',
    caller: { permission: 'read:files' },
    params: z.object({ id: Uuid }),
    replies: { 200: { stream: 'application/zip' } },
    errors: ['not_found', 'archive_too_large', 'too_many_transfers'],
    handle: ({ actor, params, request }) => archives.open(actor, params.id, request),
  }),
];
