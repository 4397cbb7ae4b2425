import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { queryBoolean, Uuid } from '../../api/schemas.ts';
import {
  ChildPage,
  ChildQuery,
  FolderChanges,
  FolderCopy,
  FolderPage,
  FolderPath,
  FolderQuery,
  FolderRestoration,
  FolderView,
  NewFolder,
} from '../model/folders/folders.schema.ts';
import { TaskView } from '../../tasks/tasks.schema.ts';
import type { FolderCopies } from './folder-copies.service.ts';
import type { FolderLists } from '../lists/folder-lists.service.ts';
import type { FolderTrash } from './folder-trash.service.ts';
import type { Folders } from './folders.service.ts';

const CHANGE = {
  tag: 'folders',
  caller: { permission: 'write:folders' },
  params: z.object({ id: Uuid }),
  body: FolderChanges,
  replies: { 200: FolderView },
  idempotent: true,
} as const;
const CHILDREN = {
  method: 'get',
  tag: 'folders',
  caller: { permission: 'read:folders' },
  query: ChildQuery,
  replies: { 200: ChildPage },
  compressed: true,
} as const;
const CHANGE_ERRORS = ['not_found', 'forbidden', 'name_conflict', 'conflict', 'precondition_failed'] as const;

export const folderEndpoints = ({
  folders,
  lists,
  trash,
  copies,
}: {
  folders: Folders;
  lists: FolderLists;
  trash: FolderTrash;
  copies: FolderCopies;
}): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/folders',
    operationId: 'createFolder',
    summary: 'Create a folder',
    tag: 'folders',
    caller: { permission: 'write:folders' },
    body: NewFolder,
    replies: { 201: FolderView, 200: FolderView },
    errors: ['not_found', 'name_conflict', 'quota_exceeded'],
    idempotent: true,
    handle: async ({ actor, body }) => {
      const { created, folder } = await folders.create(actor, body);
      return tagged(created ? 201 : 200, folder);
    },
  }),
  endpoint({
    method: 'get',
    path: '/folders',
    operationId: 'listFolders',
    summary: 'List the folders that the caller may see',
    tag: 'folders',
    caller: { permission: 'read:folders' },
    query: FolderQuery,
    replies: { 200: FolderPage },
    compressed: true,
    errors: ['not_found', 'forbidden'],
    handle: async ({ actor, query }) => reply(200, await lists.list(actor, query)),
  }),
  endpoint({
    ...CHILDREN,
    path: '/folders/root/children',
    operationId: 'listRootChildren',
    summary: "List what is in the caller's root: folders first, then files",
    handle: async ({ actor, query }) => reply(200, await lists.children(actor, null, query)),
  }),
  endpoint({
    ...CHILDREN,
    path: '/folders/{id}/children',
    operationId: 'listFolderChildren',
    summary: 'List what is in a folder: folders first, then files',
    params: z.object({ id: Uuid }),
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await lists.children(actor, params.id, query)),
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
    method: 'get',
    path: '/folders/{id}/path',
    operationId: 'getFolderPath',
    summary: 'List the folders on the path to a folder: the highest that the caller may see first, the folder itself last',
    tag: 'folders',
    caller: { permission: 'read:folders' },
    params: z.object({ id: Uuid }),
    replies: { 200: FolderPath },
    compressed: true,
    errors: ['not_found'],
    handle: async ({ actor, params }) => reply(200, { data: await folders.path(actor, params.id) }),
  }),
  endpoint({
    ...CHANGE,
    method: 'put',
    path: '/folders/{id}',
    operationId: 'putFolder',
    summary: 'Change fields of a folder, as PATCH does',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) =>
      tagged(200, await folders.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...CHANGE,
    method: 'patch',
    path: '/folders/{id}',
    operationId: 'updateFolder',
    summary: 'Rename or move a folder with all its content',
    errors: CHANGE_ERRORS,
    handle: async ({ actor, params, body, request }) =>
      tagged(200, await folders.change(actor, params.id, body, request.ifMatch)),
  }),
  endpoint({
    method: 'delete',
    path: '/folders/{id}',
    operationId: 'deleteFolder',
    summary: 'Move a folder with all its content to the trash, or with permanent=true delete it for ever',
    tag: 'folders',
    caller: { permission: 'write:folders' },
    params: z.object({ id: Uuid }),
    query: z.object({ permanent: queryBoolean().optional() }),
    replies: { 204: null },
    errors: ['not_found', 'forbidden', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, query, request }) => {
      if (query.permanent) await trash.purge(actor, params.id, request.ifMatch);
      else await trash.trash(actor, params.id, request.ifMatch);
      return reply(204);
    },
  }),
  endpoint({
    method: 'post',
    path: '/folders/{id}/copy',
    operationId: 'copyFolder',
    summary: 'Copy a folder with all its content: the copy exists at once, and a job fills it',
    tag: 'folders',
    caller: { permission: 'write:folders' },
    params: z.object({ id: Uuid }),
    body: FolderCopy,
    replies: { 202: TaskView },
    errors: ['not_found', 'forbidden', 'name_conflict', 'conflict', 'quota_exceeded'],
    idempotent: true,
    handle: async ({ actor, params, body }) => reply(202, await copies.copy(actor, params.id, body)),
  }),
  endpoint({
    method: 'post',
    path: '/folders/{id}/restore',
    operationId: 'restoreFolder',
    summary: 'Restore a folder from the trash, with everything deleted with it',
    tag: 'folders',
    caller: { permission: 'write:folders' },
    params: z.object({ id: Uuid }),
    body: FolderRestoration,
    replies: { 200: FolderView },
    errors: ['not_found', 'forbidden', 'name_conflict', 'conflict', 'precondition_failed'],
    idempotent: true,
    handle: async ({ actor, params, body, request }) => tagged(200, await trash.restore(actor, params.id, body, request.ifMatch)),
  }),
];
