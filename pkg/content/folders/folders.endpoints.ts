import { z } from 'zod';
import { type Endpoint, endpoint, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { FolderChanges, FolderView, NewFolder } from './folders.schema.ts';
import type { Folders } from './folders.service.ts';

const CHANGE = {
  tag: 'folders',
  caller: { permission: 'write:folders' },
  params: z.object({ id: Uuid }),
  body: FolderChanges,
  replies: { 200: FolderView },
  idempotent: true,
} as const;
const CHANGE_ERRORS = ['not_found', 'forbidden', 'name_conflict', 'conflict', 'precondition_failed'] as const;

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
  endpoint({
    ...CHANGE,
    method: 'put',
    path: '/folders/{id}',
    operationId: 'putFolder',
    summary: 'Change some of a folder, as PATCH does',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) => tagged(200, await folders.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...CHANGE,
    method: 'patch',
    path: '/folders/{id}',
    operationId: 'updateFolder',
    summary: 'Rename or move a folder with all that is in it',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) => tagged(200, await folders.change(actor, params.id, body, request.ifMatch)),
  }),
];
