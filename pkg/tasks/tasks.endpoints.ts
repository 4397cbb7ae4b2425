import { z } from 'zod';
import {
  CSV,
  type Endpoint,
  endpoint,
  EVENT_STREAM,
  NDJSON,
  reply,
  wantsEvents,
  wantsLines,
  wantsTable,
} from '../api/endpoint.ts';
import { csv, ndjson } from '../api/exports.ts';
import { Uuid } from '../api/schemas.ts';
import type { TaskFollowers } from './task-followers.ts';
import { TaskItemPage, TaskItemQuery, type TaskItemView, TaskPage, TaskQuery, TaskRetry, TaskView } from './tasks.schema.ts';
import type { Tasks } from './tasks.service.ts';

const ById = z.object({ id: Uuid });
const OWN = { tag: 'jobs', caller: 'user' } as const;

/** The columns of an item in a CSV table. */
const ITEM_FIELDS: Readonly<Record<string, (item: TaskItemView) => string | null>> = {
  id: ({ id }) => id,
  type: ({ target }) => target.type,
  target_id: ({ target }) => target.id,
  name: ({ target }) => target.name,
  state: ({ state }) => state,
  reason: ({ reason }) => reason,
  code: ({ error }) => error?.code ?? null,
  message: ({ error }) => error?.message ?? null,
  url: ({ result }) => (result && 'url' in result ? result.url : null),
  copy_id: ({ result }) => (result && 'copy_id' in result ? result.copy_id : null),
  made_id: ({ result }) => (result && 'path' in result ? result.id : null),
  made_path: ({ result }) => (result && 'path' in result ? result.path : null),
};

export const taskEndpoints = (tasks: Tasks, followers: TaskFollowers): Endpoint[] => [
  endpoint({
    ...OWN,
    method: 'get',
    path: '/jobs',
    operationId: 'listJobs',
    summary: "List your jobs of the last 30 days, newest first; all=true lists everybody's, for administrators",
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
    summary: 'Show the progress of a job, or stream it as server-sent events until the job ends',
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
    summary: 'List the items of a job with their outcomes; lines of JSON and tables contain all items',
    params: ById,
    query: TaskItemQuery,
    replies: { 200: TaskItemPage },
    exported: [NDJSON, CSV],
    errors: ['not_found'],
    handle: async ({ actor, params, query, request }) => {
      const isTable = wantsTable(request);
      if (!isTable && !wantsLines(request)) return reply(200, await tasks.items(actor, params.id, query));
      const all = await tasks.allItems(actor, params.id, query);
      const stream = isTable ? csv(all, ITEM_FIELDS, request.signal) : ndjson(all, request.signal);
      return reply(200, stream, { 'content-type': isTable ? CSV : NDJSON });
    },
  }),
  endpoint({
    ...OWN,
    method: 'post',
    path: '/jobs/{id}/cancel',
    operationId: 'cancelJob',
    summary: 'Cancel a job; what it has done stays done',
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
    summary: 'Retry the failed items of a job, or those with given codes, as another job',
    params: ById,
    body: TaskRetry,
    replies: { 202: TaskView },
    errors: ['not_found', 'conflict'],
    idempotent: true,
    handle: async ({ actor, params, body }) => reply(202, await tasks.retry(actor, params.id, body)),
  }),
];
