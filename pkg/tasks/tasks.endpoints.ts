import { z } from 'zod';
import { type Endpoint, endpoint, EVENT_STREAM, reply, wantsEvents } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import type { TaskFollowers } from './task-followers.ts';
import { TaskItemPage, TaskItemQuery, TaskPage, TaskQuery, TaskView } from './tasks.schema.ts';
import type { Tasks } from './tasks.service.ts';

const ById = z.object({ id: Uuid });
const OWN = { tag: 'jobs', caller: 'user' } as const;

export const taskEndpoints = (tasks: Tasks, followers: TaskFollowers): Endpoint[] => [
  endpoint({
    ...OWN,
    method: 'get',
    path: '/jobs',
    operationId: 'listJobs',
    summary: "List one's own jobs of the last 30 days, the newest first; with all=true everybody's, for administrators",
    query: TaskQuery,
    replies: { 200: TaskPage },
    errors: ['forbidden'],
    handle: async ({ actor, query }) => reply(200, await tasks.list(actor, query)),
  }),
  endpoint({
    ...OWN,
    method: 'get',
    path: '/jobs/{id}',
    operationId: 'getJob',
    summary: 'Show how far a job is; as server-sent events until it ends',
    params: ById,
    replies: { 200: TaskView },
    followed: true,
    errors: ['not_found'],
    handle: async ({ actor, params, request }) => {
      const task = await tasks.get(actor, params.id);
      if (!wantsEvents(request)) return reply(200, task);
      const stream = followers.follow(actor, task, (now) => tasks.get(now, params.id), request.signal);
      return reply(200, stream, { 'content-type': EVENT_STREAM });
    },
  }),
  endpoint({
    ...OWN,
    method: 'get',
    path: '/jobs/{id}/items',
    operationId: 'listJobItems',
    summary: 'List what a job does one by one, with what became of each',
    params: ById,
    query: TaskItemQuery,
    replies: { 200: TaskItemPage },
    errors: ['not_found'],
    handle: async ({ actor, params, query }) => reply(200, await tasks.items(actor, params.id, query)),
  }),
  endpoint({
    ...OWN,
    method: 'post',
    path: '/jobs/{id}/cancel',
    operationId: 'cancelJob',
    summary: 'End a job where it is; what it has done stays done',
    params: ById,
    replies: { 202: TaskView },
    errors: ['not_found', 'conflict'],
    idempotent: true,
    handle: async ({ actor, params }) => reply(202, await tasks.cancel(actor, params.id)),
  }),
  endpoint({
    ...OWN,
    method: 'post',
    path: '/jobs/{id}/retry',
    operationId: 'retryJob',
    summary: 'Try the failed items of a job again, as another job',
    params: ById,
    replies: { 202: TaskView },
    errors: ['not_found', 'conflict'],
    idempotent: true,
    handle: async ({ actor, params }) => reply(202, await tasks.retry(actor, params.id)),
  }),
];
