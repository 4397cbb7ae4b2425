import { z } from 'zod';
import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { Uuid } from '../../api/schemas.ts';
import { TaskView } from '../../tasks/tasks.schema.ts';
import { TEACHES } from '../contexts/contexts.endpoints.ts';
import { LMS_ERRORS } from '../line-items/line-items.endpoints.ts';
import type { LinkMembers } from './link-members.service.ts';
import { LinkMemberPage, LinkMemberQuery, MemberPage, MemberQuery } from './members.schema.ts';
import type { CourseMembers } from './members.service.ts';

const OfCourse = z.object({ id: Uuid });

export const memberEndpoints = (members: CourseMembers, ofLinks: LinkMembers): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/lti/contexts/{id}/members',
    operationId: 'listCourseMembers',
    summary: 'List the people of a course, including those who have left, whether or not they have launched',
    tag: 'lti',
    caller: TEACHES,
    params: OfCourse,
    query: MemberQuery,
    replies: { 200: MemberPage },
    errors: ['not_found', 'forbidden'],
    handle: async ({ actor, params, query }) => reply(200, await members.list(actor, params.id, query)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/contexts/{id}/link-members',
    operationId: 'listLinkMembers',
    summary: 'List the people of a course who may currently open one link of this tool, according to the LMS',
    tag: 'lti',
    caller: TEACHES,
    params: OfCourse,
    query: LinkMemberQuery,
    replies: { 200: LinkMemberPage },
    errors: LMS_ERRORS,
    handle: async ({ actor, params, query, request }) => reply(200, await ofLinks.list(actor, params.id, query, request.signal)),
  }),
  endpoint({
    method: 'post',
    path: '/lti/contexts/{id}/members/sync',
    operationId: 'syncCourseMembers',
    summary: "Import the LMS's list of a course's people, as a job; it changes nothing unless it reads the whole list",
    tag: 'lti',
    caller: TEACHES,
    params: OfCourse,
    replies: { 202: TaskView },
    errors: ['not_found', 'forbidden', 'registration_inactive', 'lms_service_missing', 'conflict'],
    idempotent: true,
    handle: async ({ actor, params }) => reply(202, await members.sync(actor, params.id)),
  }),
];
