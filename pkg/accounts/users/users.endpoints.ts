import { z } from 'zod';
import { USERS_TAG } from './users.tags.ts';
import { endpoint, type Endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { NewUser, PasswordChange, UserChanges, UserPage, UserQuery, UserView } from './users.schema.ts';
import type { Users } from './users.service.ts';

const ById = z.object({ id: Uuid });

type Change = Pick<Endpoint, 'method' | 'operationId' | 'summary'>;

export function userEndpoints(users: Users): Endpoint[] {
  const change = (as: Change): Endpoint =>
    endpoint({
      ...as,
      path: '/users/{id}',
      tag: 'users',
      caller: 'user',
      params: ById,
      body: UserChanges,
      replies: { 200: UserView },
      errors: ['not_found', 'forbidden', 'conflict', 'precondition_failed'],
      idempotent: true,
      handle: async ({ actor, params, body, request }) =>
        tagged(200, await users.change(actor, params.id, body, request.ifMatch)),
    });
  return [
    endpoint({
      method: 'get',
      path: '/users',
      operationId: 'listUsers',
      summary: 'List the users of the tenant',
      tag: 'users',
      caller: { permission: 'read:users' },
      query: UserQuery,
      replies: { 200: UserPage },
      cached: { tags: [USERS_TAG] },
      handle: async ({ query }) => reply(200, await users.list(query)),
    }),
    endpoint({
      method: 'post',
      path: '/users',
      operationId: 'createUser',
      summary: 'Create a user',
      tag: 'users',
      caller: { permission: 'write:users' },
      body: NewUser,
      replies: { 201: UserView },
      errors: ['conflict'],
      idempotent: true,
      handle: async ({ body }) => tagged(201, await users.create(body)),
    }),
    endpoint({
      method: 'get',
      path: '/users/me',
      operationId: 'getCurrentUser',
      summary: 'Show the signed-in user',
      tag: 'users',
      caller: 'user',
      replies: { 200: UserView },
      errors: ['not_found'],
      handle: async ({ actor }) => tagged(200, await users.get(actor, actor.userUuid)),
    }),
    endpoint({
      method: 'post',
      path: '/users/me/password',
      operationId: 'changePassword',
      summary: "Change the caller's password; all other sessions end",
      tag: 'users',
      caller: 'user',
      body: PasswordChange,
      replies: { 204: null },
      errors: ['invalid_credentials', 'too_many_attempts'],
      handle: async ({ actor, body, request }) => {
        await users.changePassword(actor, body.current_password, body.new_password, request.signal);
        return reply(204);
      },
    }),
    endpoint({
      method: 'get',
      path: '/users/{id}',
      operationId: 'getUser',
      summary: 'Show a user',
      tag: 'users',
      caller: 'user',
      params: ById,
      replies: { 200: UserView },
      errors: ['not_found'],
      handle: async ({ actor, params }) => tagged(200, await users.get(actor, params.id)),
    }),
    change({ method: 'put', operationId: 'putUser', summary: 'Change fields of a user, as PATCH does' }),
    change({
      method: 'patch',
      operationId: 'updateUser',
      summary: 'Change fields of a user; all users may change their own display name and user name',
    }),
    endpoint({
      method: 'delete',
      path: '/users/{id}',
      operationId: 'deleteUser',
      summary: 'Delete a user with their files, or transfer the files first',
      tag: 'users',
      caller: { permission: 'write:users' },
      params: ById,
      query: z.object({ transfer_to: Uuid.optional() }),
      replies: { 204: null },
      errors: ['not_found', 'conflict', 'name_conflict', 'precondition_failed', 'quota_exceeded'],
      handle: async ({ params, query, request }) => {
        await users.remove(params.id, query.transfer_to, request.ifMatch);
        return reply(204);
      },
    }),
    endpoint({
      method: 'delete',
      path: '/users/{id}/sessions',
      operationId: 'endUserSessions',
      summary: 'End all sessions of a user except the one of the request',
      tag: 'users',
      caller: { permission: 'write:users' },
      params: ById,
      replies: { 204: null },
      errors: ['not_found'],
      handle: async ({ actor, params }) => {
        await users.endSessions(actor, params.id);
        return reply(204);
      },
    }),
  ];
}
