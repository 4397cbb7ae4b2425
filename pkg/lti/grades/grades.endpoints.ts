import { z } from 'zod';
import { endpoint, type Endpoint, reply, tagged } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { ByLineItem, whichOf } from '../line-items/line-items.endpoints.ts';
import { AllGradesQuery, GradePage, GradeQuery, GradeView, NewGrade } from './grades.schema.ts';
import type { Grades } from './grades.service.ts';

const OfLaunch = z.object({ launch_id: Uuid });
const WRITES_GRADES = { permission: 'write:grades' } as const;

export const gradeEndpoints = (grades: Grades): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/lti/launches/{launch_id}/grades',
    operationId: 'createGrade',
    summary: 'Give a grade to a member of the course; it is sent to the LMS in the background',
    tag: 'lti',
    caller: WRITES_GRADES,
    params: OfLaunch,
    body: NewGrade,
    replies: { 201: GradeView },
    errors: ['not_found', 'forbidden', 'line_item_missing', 'score_scope_missing', 'registration_inactive'],
    idempotent: true,
    handle: async ({ actor, params, body }) => tagged(201, await grades.create(actor, params.launch_id, body)),
  }),
  endpoint({
    method: 'post',
    path: '/lti/contexts/{id}/line-items/{line_item_id}/scores',
    operationId: 'createScore',
    summary: 'Give a grade for a line item, without a launch; it is sent to the LMS in the background',
    tag: 'lti',
    caller: WRITES_GRADES,
    params: ByLineItem,
    body: NewGrade,
    replies: { 201: GradeView },
    errors: ['not_found', 'forbidden', 'registration_inactive', 'lms_service_missing'],
    idempotent: true,
    handle: async ({ actor, params, body }) => tagged(201, await grades.createForLineItem(actor, whichOf(params), body)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/grades',
    operationId: 'listAllGrades',
    summary: 'List grades: all of them for administrators, those of the courses that they teach for instructors',
    tag: 'lti',
    caller: WRITES_GRADES,
    query: AllGradesQuery,
    replies: { 200: GradePage },
    handle: async ({ actor, query }) => reply(200, await grades.listAll(actor, query)),
  }),
  endpoint({
    method: 'post',
    path: '/lti/grades/{id}/retry',
    operationId: 'retryGrade',
    summary: 'Send a grade that failed to the LMS once more, or one that waits for its next attempt at once',
    tag: 'lti',
    caller: WRITES_GRADES,
    params: z.object({ id: Uuid }),
    replies: { 202: GradeView },
    errors: ['not_found', 'forbidden', 'conflict', 'registration_inactive'],
    idempotent: true,
    handle: async ({ actor, params }) => tagged(202, await grades.retry(actor, params.id)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/launches/{launch_id}/grades',
    operationId: 'listGrades',
    summary: 'List the grades of a launch',
    tag: 'lti',
    caller: WRITES_GRADES,
    params: OfLaunch,
    query: GradeQuery,
    replies: { 200: GradePage },
    errors: ['not_found', 'forbidden'],
    handle: async ({ actor, params, query }) => reply(200, await grades.list(actor, params.launch_id, query)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/launches/{launch_id}/grades/{id}',
    operationId: 'getGrade',
    summary: 'Show a grade and its status',
    tag: 'lti',
    caller: WRITES_GRADES,
    params: OfLaunch.extend({ id: Uuid }),
    replies: { 200: GradeView },
    errors: ['not_found', 'forbidden'],
    handle: async ({ actor, params }) => tagged(200, await grades.get(actor, params.launch_id, params.id)),
  }),
];
