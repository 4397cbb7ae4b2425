import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import { GroupMemberPage, MemberQuery } from './members.schema.ts';
import type { Members } from './members.service.ts';

const OfGroup = z.object({ id: Uuid });
const Member = z.object({ id: Uuid, user_id: Uuid });
const WRITE = { tag: 'groups', caller: { permission: 'write:groups' }, params: Member, replies: { 204: null } } as const;
const ERRORS = ['not_found', 'managed'] as const;

export const memberEndpoints = (members: Members): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/groups/{id}/members',
    operationId: 'listGroupMembers',
    summary: 'List the members of a group',
    tag: 'groups',
    caller: 'user',
    params: OfGroup,
    query: MemberQuery,
    replies: { 200: GroupMemberPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await members.list(actor, params.id, query)),
  }),
  endpoint({
    ...WRITE,
    method: 'put',
    path: '/groups/{id}/members/{user_id}',
    operationId: 'addGroupMember',
    summary: 'Add a user to a group; an existing member stays',
    errors: ERRORS,
    handle: async ({ params }) => {
      await members.add(params.id, params.user_id);
      return reply(204);
    },
  }),
  endpoint({
    ...WRITE,
    method: 'delete',
    path: '/groups/{id}/members/{user_id}',
    operationId: 'removeGroupMember',
    summary: 'Remove a user from a group; the access that it gave ends at once',
    errors: ERRORS,
    handle: async ({ params }) => {
      await members.remove(params.id, params.user_id);
      return reply(204);
    },
  }),
];
