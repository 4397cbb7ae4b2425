import { z } from 'zod';
import { type Endpoint, endpoint, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { FolderView, NewFolder } from './folders.schema.ts';
import type { Folders } from './folders.service.ts';

export const folderEndpoints = (folders: Folders): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/folders',
    operationId: 'createFolder',
    summary: 'Create a folder',
    tag: 'folders',
    caller: { permission: 'write:folders' },
    body: NewFolder,
    replies: { 201: FolderView },
    errors: ['not_found', 'name_conflict'],
    idempotent: true,
    handle: async ({ actor, body }) => tagged(201, await folders.create(actor, body)),
  }),
  endpoint({
    method: 'get',
    path: '/folders/{id}',
    operationId: 'getFolder',
    summary: 'Show a folder',
    tag: 'folders',
    caller: { permission: 'read:folders' },
    params: z.object({ id: Uuid }),
    replies: { 200: FolderView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => tagged(200, await folders.read(actor, params.id)),
  }),
];
