import { endpoint, type Endpoint, reply } from '../../api/endpoint.ts';
import { TEACHES } from '../contexts/contexts.endpoints.ts';
import { ByLineItem, LMS_ERRORS, whichOf } from '../line-items/line-items.endpoints.ts';
import { ResultPage, ResultQuery } from './results.schema.ts';
import type { Results } from './results.service.ts';

export const resultEndpoints = (results: Results): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/lti/contexts/{id}/line-items/{line_item_id}/results',
    operationId: 'listResults',
    summary: "List the results in the LMS's grade book for a line item, no matter who entered them",
    tag: 'lti',
    caller: TEACHES,
    params: ByLineItem,
    query: ResultQuery,
    replies: { 200: ResultPage },
    errors: LMS_ERRORS,
    handle: async ({ actor, params, query, request }) =>
      reply(200, await results.list(actor, whichOf(params), query, request.signal)),
  }),
];
