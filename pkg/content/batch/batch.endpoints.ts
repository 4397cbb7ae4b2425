import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { TaskView } from '../../tasks/tasks.schema.ts';
import { BatchRequest } from './batch.schema.ts';
import type { Batches } from './batch.service.ts';

export const batchEndpoints = (batches: Batches): Endpoint[] => [
  endpoint({
    tag: 'jobs',
    caller: 'user',
    method: 'post',
    path: '/batch',
    operationId: 'createBatch',
    summary: 'Apply one operation to many files and folders, as a job: to those named, or to all that a filter matches',
    body: BatchRequest,
    replies: { 202: TaskView },
    errors: ['not_found', 'forbidden', 'conflict', 'value_type_mismatch'],
    idempotent: true,
    handle: async ({ actor, body }) => reply(202, await batches.request(actor, body)),
  }),
];
