import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import { GroupGrantPage, GroupGrantQuery } from './group-grants.schema.ts';
import { GroupChanges, GroupPage, GroupQuery, GroupView, NewGroup } from './groups.schema.ts';
import type { Groups } from './groups.service.ts';

const ById = z.object({ id: Uuid });
const READ = { tag: 'groups', caller: 'user' } as const;
const WRITE = { tag: 'groups', caller: { permission: 'write:groups' } } as const;
const CHANGE = { ...WRITE, params: ById, body: GroupChanges, replies: { 200: GroupView }, idempotent: true } as const;
const CHANGE_ERRORS = ['not_found', 'managed', 'precondition_failed', 'name_conflict'] as const;

export const groupEndpoints = (groups: Groups): Endpoint[] => [
  endpoint({
    ...READ,
    method: 'get',
    path: '/groups',
    operationId: 'listGroups',
    summary: "List the caller's groups; administrators see all groups",
    query: GroupQuery,
    replies: { 200: GroupPage },
    handle: async ({ actor, query }) => reply(200, await groups.list(actor, query)),
  }),
  endpoint({
    ...WRITE,
    method: 'post',
    path: '/groups',
    operationId: 'createGroup',
    summary: 'Create a group',
    body: NewGroup,
    replies: { 201: GroupView },
    errors: ['name_conflict'],
    idempotent: true,
    handle: async ({ actor, body }) => tagged(201, await groups.create(actor, body)),
  }),
  endpoint({
    ...READ,
    method: 'get',
    path: '/groups/{id}',
    operationId: 'getGroup',
    summary: 'Show a group',
    params: ById,
    replies: { 200: GroupView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => tagged(200, await groups.get(actor, params.id)),
  }),
  endpoint({
    ...CHANGE,
    method: 'put',
    path: '/groups/{id}',
    operationId: 'putGroup',
    summary: 'Change fields of a group, as PATCH does',
    errors: CHANGE_ERRORS,
    handle: async ({ params, body, request }) => tagged(200, await groups.change(params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...CHANGE,
    method: 'patch',
    path: '/groups/{id}',
    operationId: 'updateGroup',
    summary: 'Change the name or description of a group',
    errors: CHANGE_ERRORS,
    handle: async ({ params, body, request }) => tagged(200, await groups.change(params.id, body, request.ifMatch)),
  }),
  endpoint({
    ...WRITE,
    method: 'delete',
    path: '/groups/{id}',
    operationId: 'deleteGroup',
    summary: 'Delete a group; its grants end at once',
    params: ById,
    replies: { 204: null },
    errors: ['not_found', 'managed', 'precondition_failed'],
    handle: async ({ params, request }) => {
      await groups.remove(params.id, request.ifMatch);
      return reply(204);
    },
  }),
  endpoint({
    method: 'get',
    path: '/groups/{id}/permissions',
    operationId: 'listGroupPermissions',
    summary: 'List the files and folders that are granted to a group, by name',
    tag: 'groups',
    caller: { permission: 'read:groups' },
    params: ById,
    query: GroupGrantQuery,
    replies: { 200: GroupGrantPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await groups.grants(actor, params.id, query)),
  }),
];
