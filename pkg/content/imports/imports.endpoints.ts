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
    summary:
      'Import files and folders from a ZIP archive, as a job: one sent with the request (multipart), or a stored file (JSON)',
    body: { stream: ['multipart/form-data'], schema: ImportForm, json: ImportRequest },
    replies: { 202: TaskView },
    errors: ['not_found', 'forbidden', 'conflict', 'archive_refused', 'quota_exceeded', 'too_many_transfers'],
    idempotent: true,
    handle: async ({ actor, body, request }) =>
      reply(202, await (body === undefined ? imports.importForm(actor, request) : imports.importFile(actor, body))),
  }),
];
