import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { SessionPage, SessionQuery } from './sessions.schema.ts';
import type { OwnSessions } from './sessions.service.ts';

export const sessionEndpoints = (sessions: OwnSessions): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/users/me/sessions',
    operationId: 'listSessions',
    summary: "List the caller's sessions",
    tag: 'users',
    caller: 'user',
    query: SessionQuery,
    replies: { 200: SessionPage },
    handle: async ({ actor, query }) => reply(200, await sessions.list(actor, query)),
  }),
  endpoint({
    method: 'delete',
    path: '/users/me/sessions',
    operationId: 'endOtherSessions',
    summary: "End all of the caller's sessions except this one",
    tag: 'users',
    caller: 'user',
    replies: { 204: null },
    handle: async ({ actor }) => {
      await sessions.endOthers(actor);
      return reply(204);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/users/me/sessions/{id}',
    operationId: 'endSession',
    summary: "End one of the caller's sessions",
    tag: 'users',
    caller: 'user',
    params: z.object({ id: Uuid }),
    replies: { 204: null },
    errors: ['not_found'],
    handle: async ({ actor, params }) => {
      await sessions.end(actor, params.id);
      return reply(204);
    },
  }),
];
