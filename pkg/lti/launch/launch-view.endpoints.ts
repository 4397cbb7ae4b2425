import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { TEACHES } from '../contexts/contexts.endpoints.ts';
import { LaunchPage, LaunchQuery, LaunchView } from './launch-view.schema.ts';
import type { LaunchViews } from './launch-view.service.ts';

export const launchViewEndpoints = (launches: LaunchViews): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/lti/launches',
    operationId: 'listLaunches',
    summary: 'List launches of the last 90 days, newest first: all for administrators, those of their courses for instructors',
    tag: 'lti',
    caller: TEACHES,
    query: LaunchQuery,
    replies: { 200: LaunchPage },
    handle: async ({ actor, query }) => reply(200, await launches.list(actor, query)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/launches/{launch_id}',
    operationId: 'getLaunch',
    summary: 'Show a launch: its person, its course and folder; for that person, an instructor of the course or an administrator',
    tag: 'lti',
    caller: 'user',
    params: z.object({ launch_id: Uuid }),
    replies: { 200: LaunchView },
    errors: ['not_found'],
    handle: async ({ actor, params }) => reply(200, await launches.show(actor, params.launch_id)),
  }),
];
