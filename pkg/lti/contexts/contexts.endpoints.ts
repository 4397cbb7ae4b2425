import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { ContextPage, ContextQuery, ContextView } from './contexts.schema.ts';
import type { Contexts } from './contexts.service.ts';

/** Administrators and instructors have this permission; learners lack it. */
export const TEACHES = { permission: 'write:grades' } as const;

export const contextEndpoints = (contexts: Contexts): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/lti/contexts',
    operationId: 'listContexts',
    summary: 'List the courses of LMSs: all of them for administrators, those that they teach for instructors',
    tag: 'lti',
    caller: TEACHES,
    query: ContextQuery,
    replies: { 200: ContextPage },
    handle: async ({ actor, query }) => reply(200, await contexts.list(actor, query)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/contexts/{id}',
    operationId: 'getContext',
    summary: 'Show a course, and which services the LMS offers in it',
    tag: 'lti',
    caller: TEACHES,
    params: z.object({ id: Uuid }),
    replies: { 200: ContextView },
    errors: ['not_found', 'forbidden'],
    handle: async ({ actor, params }) => tagged(200, await contexts.get(actor, params.id)),
  }),
];
