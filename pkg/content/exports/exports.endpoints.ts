import { type Endpoint, endpoint, reply } from '../../api/endpoint.ts';
import { TaskView } from '../../tasks/tasks.schema.ts';
import { NewExport } from './exports.schema.ts';
import type { Exports } from './exports.service.ts';

export const exportEndpoints = (exports: Exports): Endpoint[] => [
  endpoint({
    tag: 'jobs',
    caller: { permission: 'read:files' },
    method: 'post',
    path: '/exports',
    operationId: 'createExport',
    summary: 'Make a ZIP archive of a folder, or of files and folders, as a job; its result has a link that is valid for 24 h',
    body: NewExport,
    replies: { 202: TaskView },
    errors: ['not_found', 'conflict'],
    idempotent: true,
    handle: async ({ actor, body }) => reply(202, await exports.request(actor, body)),
  }),
];
