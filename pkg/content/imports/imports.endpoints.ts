import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { TaskView } from '../../tasks/tasks.schema.ts';
import { ImportForm, ImportRequest } from './imports.schema.ts';
import type { Imports } from './imports.service.ts';

export const importEndpoints = (imports: Imports): Endpoint[] => [
  endpoint({
    tag: 'jobs',
    caller: { permission: 'write:files' },
    method: 'post',
    path: '/imports',
    operationId: 'createImport',
    summary: 'Make files and folders of a zip archive, as a job: one that is sent (multipart), or one that is stored (JSON)',
    body: { stream: ['multipart/form-data'], schema: ImportForm, json: ImportRequest },
    replies: { 202: TaskView },
    errors: ['not_found', 'forbidden', 'conflict', 'archive_refused', 'quota_exceeded', 'too_many_transfers'],
    idempotent: true,
    handle: async ({ actor, body, request }) =>
      reply(202, await (body === undefined ? imports.ofForm(actor, request) : imports.ofFile(actor, body))),
  }),
];
