import { type Endpoint, endpoint, NDJSON, reply, wantsLines } from '../api/endpoint.ts';
import { AuditPage, AuditQuery } from './audit.schema.ts';
import type { AuditLog } from './audit.service.ts';

export const auditEndpoints = (log: AuditLog): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/audit',
    operationId: 'listAuditEntries',
    summary: 'List who did what in the last 365 days, newest first; NDJSON returns every match',
    tag: 'audit',
    caller: { permission: 'read:audit' },
    query: AuditQuery,
    replies: { 200: AuditPage },
    exported: [NDJSON],
    handle: async ({ query, request }) =>
      wantsLines(request)
        ? reply(200, log.export(query, request.signal), { 'content-type': NDJSON })
        : reply(200, await log.list(query)),
  }),
];
