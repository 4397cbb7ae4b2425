import { z } from 'zod';
import { type Endpoint, endpoint, reply, tagged } from '../../api/endpoint.ts';
import type { ProblemCode } from '../../api/error-catalogue.ts';
import { Uuid } from '../../api/schemas.ts';
import { TEACHES } from '../contexts/contexts.endpoints.ts';
import { LineItemPage, LineItemQuery, LineItemView, NewLineItem } from './line-items.schema.ts';
import type { LineItems } from './line-items.service.ts';

const OfCourse = z.object({ id: Uuid });
export const ByLineItem = OfCourse.extend({ line_item_id: Uuid });

/** The errors of a request to an LMS. */
export const LMS_ERRORS: readonly ProblemCode[] = [
  'not_found',
  'forbidden',
  'registration_inactive',
  'lms_service_missing',
  'lms_refused',
  'lms_failed',
  'lms_unavailable',
  'lms_timeout',
];

export const lineItemEndpoints = (lineItems: LineItems): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/lti/contexts/{id}/line-items',
    operationId: 'listLineItems',
    summary: "List line items of a course's grade book in the LMS, in its order",
    tag: 'lti',
    caller: TEACHES,
    params: OfCourse,
    query: LineItemQuery,
    replies: { 200: LineItemPage },
    errors: LMS_ERRORS,
    handle: async ({ actor, params, query, request }) =>
      reply(200, await lineItems.list(actor, params.id, query, request.signal)),
  }),
  endpoint({
    method: 'post',
    path: '/lti/contexts/{id}/line-items',
    operationId: 'createLineItem',
    summary: "Add a line item to a course's grade book in the LMS",
    tag: 'lti',
    caller: TEACHES,
    params: OfCourse,
    body: NewLineItem,
    replies: { 201: LineItemView },
    errors: LMS_ERRORS,
    idempotent: true,
    handle: async ({ actor, params, body }) => tagged(201, await lineItems.create(actor, params.id, body)),
  }),
  endpoint({
    method: 'get',
    path: '/lti/contexts/{id}/line-items/{line_item_id}',
    operationId: 'getLineItem',
    summary: 'Show a line item as the LMS has it',
    tag: 'lti',
    caller: TEACHES,
    params: ByLineItem,
    replies: { 200: LineItemView },
    errors: LMS_ERRORS,
    handle: async ({ actor, params, request }) => tagged(200, await lineItems.get(actor, whichOf(params), request.signal)),
  }),
  endpoint({
    method: 'put',
    path: '/lti/contexts/{id}/line-items/{line_item_id}',
    operationId: 'putLineItem',
    summary: 'Change a line item in the LMS; omitted fields are emptied, other fields that the LMS has stay unchanged',
    tag: 'lti',
    caller: TEACHES,
    params: ByLineItem,
    body: NewLineItem,
    replies: { 200: LineItemView },
    errors: [...LMS_ERRORS, 'precondition_failed'],
    handle: async ({ actor, params, body, request }) =>
      tagged(200, await lineItems.replace(actor, whichOf(params), body, request.ifMatch)),
  }),
  endpoint({
    method: 'delete',
    path: '/lti/contexts/{id}/line-items/{line_item_id}',
    operationId: 'deleteLineItem',
    summary: 'Delete a line item in the LMS, with the grades that it has there',
    tag: 'lti',
    caller: TEACHES,
    params: ByLineItem,
    replies: { 204: null },
    errors: [...LMS_ERRORS, 'precondition_failed'],
    handle: async ({ actor, params, request }) => {
      await lineItems.remove(actor, whichOf(params), request.ifMatch);
      return reply(204);
    },
  }),
];

export const whichOf = ({ id, line_item_id }: z.output<typeof ByLineItem>) => ({ context: id, id: line_item_id });
