import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../api/endpoint.ts';
import { Uuid } from '../api/schemas.ts';
import { TaskPage, TaskView } from '../tasks/tasks.schema.ts';
import {
  NewSchedule,
  RunQuery,
  ScheduleChanges,
  SchedulePage,
  ScheduleQuery,
  ScheduleTimes,
  ScheduleView,
  TimesQuery,
} from './schedules.schema.ts';
import type { Schedules } from './schedules.service.ts';

const ById = z.object({ id: Uuid });
const READ = { tag: 'schedules', caller: { permission: 'read:schedules' } } as const;
const WRITE = { tag: 'schedules', caller: { permission: 'write:schedules' } } as const;

type Change = Pick<Endpoint, 'method' | 'operationId' | 'summary'>;

export function scheduleEndpoints(schedules: Schedules): Endpoint[] {
  const change = (as: Change): Endpoint =>
    endpoint({
      ...WRITE,
      ...as,
      path: '/schedules/{id}',
      params: ById,
      body: ScheduleChanges,
      replies: { 200: ScheduleView },
      errors: ['not_found', 'managed', 'precondition_failed', 'value_type_mismatch'],
      idempotent: true,
      handle: async ({ actor, params, body, request }) =>
        tagged(200, await schedules.change(actor, params.id, body, request.ifMatch)),
    });
  return [
    endpoint({
      ...READ,
      method: 'get',
      path: '/schedules',
      operationId: 'listSchedules',
      summary: 'List the schedules of the tenant',
      query: ScheduleQuery,
      replies: { 200: SchedulePage },
      handle: async ({ query }) => reply(200, await schedules.list(query)),
    }),
    endpoint({
      ...WRITE,
      method: 'post',
      path: '/schedules',
      operationId: 'createSchedule',
      summary: 'Create a schedule; its runs act as the administrator who saved it last',
      body: NewSchedule,
      replies: { 201: ScheduleView },
      errors: ['conflict', 'value_type_mismatch'],
      idempotent: true,
      handle: async ({ actor, body }) => tagged(201, await schedules.create(actor, body)),
    }),
    endpoint({
      ...READ,
      method: 'get',
      path: '/schedules/times',
      operationId: 'listScheduleTimes',
      summary: 'Show when a schedule with this expression would run, before it is saved',
      query: TimesQuery,
      replies: { 200: ScheduleTimes },
      handle: async ({ query }) => reply(200, await schedules.times(query)),
    }),
    endpoint({
      ...READ,
      method: 'get',
      path: '/schedules/{id}',
      operationId: 'getSchedule',
      summary: 'Show a schedule, its newest run and the time of its next run',
      params: ById,
      replies: { 200: ScheduleView },
      errors: ['not_found'],
      handle: async ({ params }) => tagged(200, await schedules.get(params.id)),
    }),
    change({ method: 'put', operationId: 'putSchedule', summary: 'Change fields of a schedule, as PATCH does' }),
    change({
      method: 'patch',
      operationId: 'updateSchedule',
      summary: 'Change fields of a schedule; arguments must fit its kind',
    }),
    endpoint({
      ...WRITE,
      method: 'delete',
      path: '/schedules/{id}',
      operationId: 'deleteSchedule',
      summary: 'Delete a schedule; its runs remain as jobs, its archives stay for 30 days',
      params: ById,
      replies: { 204: null },
      errors: ['not_found', 'managed', 'precondition_failed'],
      handle: async ({ params, request }) => {
        await schedules.remove(params.id, request.ifMatch);
        return reply(204);
      },
    }),
    endpoint({
      ...WRITE,
      method: 'post',
      path: '/schedules/{id}/run',
      operationId: 'runSchedule',
      summary: 'Run a schedule now',
      params: ById,
      replies: { 202: TaskView },
      errors: ['not_found', 'conflict'],
      idempotent: true,
      handle: async ({ params }) => reply(202, await schedules.run(params.id)),
    }),
    endpoint({
      ...READ,
      method: 'get',
      path: '/schedules/{id}/runs',
      operationId: 'listScheduleRuns',
      summary: 'List the runs of a schedule in the last 30 days, and older ones whose archives it keeps',
      params: ById,
      query: RunQuery,
      replies: { 200: TaskPage },
      errors: ['not_found'],
      handle: async ({ actor, params, query }) => reply(200, await schedules.runs(actor, params.id, query)),
    }),
  ];
}
